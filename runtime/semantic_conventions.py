"""The names of our metrics, spans and attributes: nobody else writes one down.

Attributes follow OpenTelemetry's semantic conventions 1.44 (messaging: in development; http and
databases: stable) and those of generative AI, which are kept apart since 2026 and still change:
`gen_ai.provider.name` was `gen_ai.system`. Metrics of our own begin with `lightstream.`; Prometheus
shows `lightstream.handle`, in seconds, as `lightstream_handle_seconds`.

No label names a workspace, a document, a file or an address: their number has no bound, and they
are the tenants'.
"""

SCOPE = "lightstream"
"""The instrumentation scope of all of them."""

# Attributes of the conventions.
MESSAGING_SYSTEM = "messaging.system"
MESSAGING_OPERATION_TYPE = "messaging.operation.type"
MESSAGING_OPERATION_NAME = "messaging.operation.name"
MESSAGING_DESTINATION = "messaging.destination.name"
MESSAGING_DESTINATION_TEMPLATE = "messaging.destination.template"
MESSAGING_CONSUMER_GROUP = "messaging.consumer.group.name"
MESSAGING_BATCH_COUNT = "messaging.batch.message_count"
MESSAGING_MESSAGE_ID = "messaging.message.id"
GEN_AI_OPERATION = "gen_ai.operation.name"
GEN_AI_PROVIDER = "gen_ai.provider.name"
GEN_AI_REQUEST_MODEL = "gen_ai.request.model"
GEN_AI_INPUT_TOKENS = "gen_ai.usage.input_tokens"
GEN_AI_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
DB_SYSTEM = "db.system.name"
DB_NAMESPACE = "db.namespace"
DB_COLLECTION = "db.collection.name"
DB_OPERATION = "db.operation.name"
HTTP_METHOD = "http.request.method"
HTTP_STATUS = "http.response.status_code"
HTTP_ROUTE = "http.route"
ERROR_TYPE = "error.type"
SERVICE_INSTANCE = "service.instance.id"

# Attributes of our own, on spans only.
WORKSPACE = "lightstream.workspace"
DOCUMENT = "lightstream.document"
QUERY_MODE = "lightstream.query.mode"

# Labels of our metrics.
DURABLE = "durable"
OUTCOME = "outcome"
SERVICE = "service"
VERSION = "version"
ROLE = "role"
MODEL = "model"
KIND = "kind"
PROVIDER = "provider"
CACHE = "cache"
DIRECTION = "direction"
MODE = "mode"
STAGE = "stage"
STATUS = "status"
STREAM = "stream"
PROJECTION = "projection"

# Metrics: what happened in this process.
EVENTS_HANDLED = "lightstream.events.handled"
HANDLE = "lightstream.handle"
MODEL_CALL = "lightstream.model.call"
MODEL_TOKENS = "lightstream.model.tokens"
PROVIDER_PAUSES = "lightstream.provider.pauses"
CACHE_LOOKUPS = "lightstream.cache.lookups"
RECEIPTS = "lightstream.receipts"
CLOCK_STEPS = "lightstream.clock.steps"
QUERY = "lightstream.query"
HTTP_REQUEST = "http.server.request.duration"

# Metrics: what is read when somebody asks.
BUILD_INFO = "lightstream.build.info"
READY = "lightstream.ready"
PROVIDER_PAUSED = "lightstream.provider.paused"
DURABLE_PENDING = "lightstream.durable.pending"
DURABLE_ACK_PENDING = "lightstream.durable.ack.pending"
DURABLE_REDELIVERED = "lightstream.durable.redelivered"
DEAD_LETTERS = "lightstream.dead.letters"
PROJECTION_LAG = "lightstream.projection.lag.events"
PARTITION_LAG = "lightstream.partition.lag.events"
GENERATION = "lightstream.generation"
DOCUMENTS = "lightstream.documents"
STREAM_SIZE = "lightstream.stream.size"
STREAM_MESSAGES = "lightstream.stream.messages"
LOG_SEQUENCE = "lightstream.log.sequence"
AUDIT_POSITION = "lightstream.audit.position"
AUDIT_FINISHED = "lightstream.audit.finished.timestamp"
AUDIT_PROBLEMS = "lightstream.audit.problems"
LOG_WRITABLE = "lightstream.log.writable"
