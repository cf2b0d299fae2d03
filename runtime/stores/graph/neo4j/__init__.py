"""The graph store on a server that speaks Bolt and Cypher: Neo4j, or ArcadeDB on one machine."""
