{{- define "lightstream.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "lightstream.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "lightstream.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "lightstream.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "lightstream.selector" -}}
app.kubernetes.io/name: {{ include "lightstream.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lightstream.labels" -}}
{{ include "lightstream.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: lightstream
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "lightstream.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "lightstream.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "lightstream.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* What each program opens, the user it is on the bus, the keys of models that it reads, and its consumers. */ -}}
{{- define "lightstream.programs" -}}
chunker:
  user: chunker
  command: [python, -m, lightstream_rag.services.chunker.main]
  opens: []
  keys: []
  consumers: [chunker]
{{- if .Values.figures.enabled }}
figures:
  user: chunker
  command: [python, -m, lightstream_rag.services.chunker.figure_service]
  opens: [documents, models]
  keys: [LLM_API_KEY, VLM_LLM_API_KEY]
  consumers: [chunker-figures]
{{- end }}
extractor:
  user: extractor
  command: [python, -m, lightstream_rag.services.extractor.main]
  opens: [documents, models]
  keys: [LLM_API_KEY, EXTRACT_LLM_API_KEY]
  consumers: [extractor]
merger:
  user: merger
  command: [python, -m, lightstream_rag.services.merger.main]
  opens: [documents, graph, models]
  keys: [LLM_API_KEY, EXTRACT_LLM_API_KEY, SUMMARY_LLM_API_KEY]
  consumers: [merger, merger-extents, merger-summaries, merger-summarized, merger-edits]
indexer:
  user: indexer
  command: [python, -m, lightstream_rag.services.indexer.main]
  opens: [documents, graph, vectors, models]
  keys: [EMBEDDING_API_KEY]
  consumers: [indexer-chunks, indexer-graph]
query:
  user: query
  {{- if .Values.gateway.enabled }}
  command: [python, -m, lightstream_rag.services.query.main]
  opens: [documents, graph, vectors, models, questions]
  {{- else }}
  command: [python, -m, lightstream_rag.services.gateway.main]
  opens: [documents, graph, vectors, models, access]
  {{- end }}
  keys: [LLM_API_KEY, KEYWORD_LLM_API_KEY, QUERY_LLM_API_KEY, RERANK_API_KEY, EMBEDDING_API_KEY]
  consumers: [query-status]
{{- if .Values.gateway.enabled }}
gateway:
  user: gateway
  command: [python, -m, lightstream_rag.services.gateway.main]
  opens: [documents, graph, access, questions{{ if not .Values.webhooks.enabled }}, receivers{{ end }}]
  keys: []
  consumers: []
{{- end }}
webhooks:
  user: webhooks
  command: [python, -m, lightstream_rag.services.gateway.webhooks.main]
  opens: [documents, receivers]
  keys: []
  consumers: []
intake:
  user: operator
  command: [lightstream, intake]
  opens: [models]
  keys: []
  consumers: []
operator:
  user: operator
  command: [lightstream, operator]
  opens: [documents, graph, vectors, models, access]
  keys: &all
    - LLM_API_KEY
    - EXTRACT_LLM_API_KEY
    - SUMMARY_LLM_API_KEY
    - KEYWORD_LLM_API_KEY
    - QUERY_LLM_API_KEY
    - VLM_LLM_API_KEY
    - RERANK_API_KEY
    - EMBEDDING_API_KEY
  consumers: []
topology:
  user: operator
  command: []
  opens: [documents, graph, vectors, models]
  keys: *all
  consumers: []
{{- end -}}

{{- /* The program that has the HTTP API. */ -}}
{{- define "lightstream.api" -}}
{{- ternary "gateway" "query" .Values.gateway.enabled -}}
{{- end -}}

{{- define "lightstream.settings" -}}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end -}}

{{- /* The secrets of one program (a dict with root, and program of the table above): by variable, the Secret and its key. */ -}}
{{- define "lightstream.secrets" -}}
{{- $values := .root.Values -}}
{{- $program := .program -}}
{{- $operator := eq $program.user "operator" -}}
NATS_URL: { secret: {{ $values.bus.existingSecret }}, key: {{ $program.user }} }
{{- if $values.stores.existingSecret }}
{{- if has "documents" $program.opens }}
STORES_URL: { secret: {{ $values.stores.existingSecret }}, key: {{ $values.stores.urlKey }} }
{{- end }}
{{- else }}
{{- if has "documents" $program.opens }}
DOCUMENTS_URL: { secret: {{ $values.documents.existingSecret }}, key: {{ $values.documents.urlKey }} }
{{- end }}
{{- if has "graph" $program.opens }}
NEO4J_PASSWORD: { secret: {{ $values.graph.existingSecret }}, key: {{ $values.graph.passwordKey }} }
{{- end }}
{{- if has "vectors" $program.opens }}
MILVUS_TOKEN: { secret: {{ $values.vectors.existingSecret }}, key: {{ ternary $values.vectors.adminTokenKey $values.vectors.tokenKey $operator }} }
{{- if $operator }}
MILVUS_SERVICES_TOKEN: { secret: {{ $values.vectors.existingSecret }}, key: {{ $values.vectors.tokenKey }} }
{{- end }}
{{- end }}
{{- end }}
{{- if $values.models.existingSecret }}
{{- range $name := $values.models.keys }}
{{- if has $name $program.keys }}
{{ $name }}: { secret: {{ $values.models.existingSecret }}, key: {{ $name }} }
{{- end }}
{{- end }}
{{- end }}
{{- if has "questions" $program.opens }}
QUESTIONS_KEY: { secret: {{ $values.gateway.existingSecret }}, key: {{ $values.gateway.key }} }
{{- end }}
{{- if and (has "access" $program.opens) $values.access.existingSecret }}
{{- range $name := $values.access.keys }}
{{ $name }}: { secret: {{ $values.access.existingSecret }}, key: {{ $name }} }
{{- end }}
{{- end }}
{{- end -}}

{{- /* Variables of one program, and where it finds each of its secrets. */ -}}
{{- define "lightstream.env" -}}
{{- $values := .root.Values -}}
{{- $operator := eq .program.user "operator" -}}
- { name: NATS_API_PREFIX, value: {{ ternary "$JS.API" $values.bus.apiPrefix $operator | quote }} }
{{- range $variable, $_ := include "lightstream.secrets" . | fromYaml }}
- { name: {{ $variable }}_FILE, value: /run/lightstream/{{ lower $variable }} }
{{- end }}
{{- if not $values.stores.existingSecret }}
{{- if has "documents" .program.opens }}
- { name: MONGO_DATABASE, value: {{ $values.documents.database | quote }} }
{{- end }}
{{- if has "graph" .program.opens }}
- { name: NEO4J_URI, value: {{ $values.graph.uri | quote }} }
- { name: NEO4J_DATABASE, value: {{ $values.graph.database | quote }} }
- { name: NEO4J_USERNAME, value: {{ $values.graph.username | quote }} }
{{- end }}
{{- if has "vectors" .program.opens }}
- { name: MILVUS_URI, value: {{ $values.vectors.uri | quote }} }
{{- end }}
{{- end }}
{{- if $operator }}
- name: LIGHTSTREAM_API_URL
  value: {{ printf "http://%s-query:%d" (include "lightstream.fullname" .root) (int $values.service.port) | quote }}
{{- end }}
{{- if eq .program.user "gateway" }}
- { name: QUESTIONS_URL, value: "http://{{ include "lightstream.fullname" .root }}-questions:9621" }
{{- end }}
{{- if eq .program.user "chunker" }}
- { name: FIGURE_DESCRIBER, value: apart }
{{- end }}
{{- if and $values.webhooks.enabled (eq .program.user (include "lightstream.api" .root)) }}
- { name: WEBHOOK_SENDER, value: apart }
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "lightstream.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "lightstream.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- /* What stands beside the containers of a program's pod. */ -}}
{{- define "lightstream.pod" -}}
{{- $values := .root.Values -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "lightstream.podSecurity" . | nindent 2 }}
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: scratch
    emptyDir: { sizeLimit: {{ $values.scratch }} }
  # Read by the programs' group alone.
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- range $variable, $from := include "lightstream.secrets" . | fromYaml }}
        - secret: { name: {{ $from.secret }}, items: [{ key: {{ $from.key }}, path: {{ lower $variable }} }] }
        {{- end }}
  {{- with $values.bus.tls.existingSecret }}
  - name: bus
    secret: { secretName: {{ . }}, defaultMode: 0440 }
  {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "lightstream.mounts" -}}
- { name: scratch, mountPath: /tmp }
- { name: secrets, mountPath: /run/lightstream, readOnly: true }
{{- if .Values.bus.tls.existingSecret }}
- { name: bus, mountPath: /run/bus, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}
