"""The statements about checkpoints: nodes with a label of their own, which no statement about
entities meets.
"""

PUT_CHECKPOINT = """
MERGE (c:Checkpoint {generation: $generation})
ON CREATE SET c.sequence = -1
SET c.lock = $sequence
WITH c WHERE c.sequence < $sequence
SET c.sequence = $sequence, c.log = $log
"""

CHECKPOINT = (
    "MATCH (c:Checkpoint {generation: $generation}) RETURN c.sequence AS sequence, c.log AS log"
)

DROP_CHECKPOINT = "MATCH (c:Checkpoint {generation: $generation}) DELETE c"
