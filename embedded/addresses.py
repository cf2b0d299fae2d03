"""Where the parts of a running stack are found. Commands ask for it, so nothing here loads what
runs a stack.
"""

from embedded.data_folder import DataFolder, StackState
from embedded.servers import arcadedb, milvus_lite, nats
from embedded.stores import GRAPH, VECTORS


def service_addresses(folder: DataFolder, state: StackState) -> dict[str, str]:
    """Return the addresses and credentials that every service of this stack gets, by the name of
    the setting.
    """
    if state.stores:
        return {"nats_url": bus_url(state), **state.stores}
    return {
        "nats_url": bus_url(state),
        "documents_url": f"sqlite://{folder.path / 'documents' / 'documents.db'}",
        "neo4j_uri": (
            arcadedb.bolt_uri(state.ports.get("graph", 0))
            if GRAPH.has_server(folder.path)
            else GRAPH.url(folder.path)
        ),
        "neo4j_username": arcadedb.USER,
        "neo4j_password": state.password,
        "neo4j_database": arcadedb.DATABASE,
        "milvus_uri": (
            milvus_lite.uri(state.ports.get("vectors", 0))
            if VECTORS.has_server(folder.path)
            else VECTORS.url(folder.path)
        ),
        "milvus_token": "",
        "milvus_index_type": "FLAT",
    }


def bus_url(state: StackState) -> str:
    """Return the address of the running stack's bus, with its password."""
    return nats.url(state.ports["bus"], state.bus_password)
