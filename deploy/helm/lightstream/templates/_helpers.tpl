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

{{- /* What each program opens, the user it is on the bus, and the consumers it takes from. */ -}}
{{- define "lightstream.programs" -}}
chunker:
  user: chunker
  command: [python, -m, services.chunker.main]
  opens: []
  consumers: [chunker]
extractor:
  user: extractor
  command: [python, -m, services.extractor.main]
  opens: [documents, models]
  consumers: [extractor]
merger:
  user: merger
  command: [python, -m, services.merger.main]
  opens: [documents, graph, models]
  consumers: [merger, merger-extents, merger-summaries, merger-summarized, merger-edits]
indexer:
  user: indexer
  command: [python, -m, services.indexer.main]
  opens: [documents, graph, vectors, models]
  consumers: [indexer-chunks, indexer-graph]
query:
  user: query
  command: [python, -m, services.query.main]
  opens: [documents, graph, vectors, models, access]
  consumers: [query-status]
operator:
  user: operator
  command: [lightstream, operator]
  opens: [documents, graph, vectors, models, access]
  consumers: []
topology:
  user: operator
  command: []
  opens: [documents, graph, vectors, models]
  consumers: []
{{- end -}}

{{- define "lightstream.settings" -}}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end -}}

{{- /* What NATS_URL says of the files of TLS. */ -}}
{{- define "lightstream.busFiles" -}}
{{- if and (eq .Values.bus.scheme "tls") .Values.bus.tls.existingSecret -}}
?ca=/run/bus/ca.crt{{ if .Values.bus.tls.clientCertificate }}&cert=/run/bus/tls.crt&key=/run/bus/tls.key{{ end }}
{{- end -}}
{{- end -}}

{{- /* Variables of one program: a dict with root, program (of the table above) and component. */ -}}
{{- define "lightstream.env" -}}
{{- $values := .root.Values -}}
{{- $operator := eq .program.user "operator" -}}
- name: NATS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $values.bus.existingSecret }}, key: {{ .program.user }} } }
- name: NATS_URL
  value: {{ printf "%s://%s:$(NATS_PASSWORD)@%s%s" $values.bus.scheme .program.user (join "," $values.bus.servers) (include "lightstream.busFiles" .root) | quote }}
- name: NATS_API_PREFIX
  value: {{ ternary "$JS.API" $values.bus.apiPrefix $operator | quote }}
{{- if has "documents" .program.opens }}
- name: DOCUMENTS_URL
  valueFrom: { secretKeyRef: { name: {{ $values.documents.existingSecret }}, key: {{ $values.documents.urlKey }} } }
- name: MONGO_DATABASE
  value: {{ $values.documents.database | quote }}
{{- end }}
{{- if has "graph" .program.opens }}
- name: NEO4J_URI
  value: {{ $values.graph.uri | quote }}
- name: NEO4J_DATABASE
  value: {{ $values.graph.database | quote }}
- name: NEO4J_USERNAME
  valueFrom: { secretKeyRef: { name: {{ $values.graph.existingSecret }}, key: {{ $values.graph.usernameKey }} } }
- name: NEO4J_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $values.graph.existingSecret }}, key: {{ $values.graph.passwordKey }} } }
{{- end }}
{{- if has "vectors" .program.opens }}
- name: MILVUS_URI
  value: {{ $values.vectors.uri | quote }}
- name: MILVUS_TOKEN
  valueFrom: { secretKeyRef: { name: {{ $values.vectors.existingSecret }}, key: {{ ternary $values.vectors.adminTokenKey $values.vectors.tokenKey $operator }} } }
{{- if $operator }}
- name: MILVUS_SERVICES_TOKEN
  valueFrom: { secretKeyRef: { name: {{ $values.vectors.existingSecret }}, key: {{ $values.vectors.tokenKey }} } }
{{- end }}
{{- end }}
{{- if $operator }}
- name: LIGHTSTREAM_API_URL
  value: {{ printf "http://%s-query:%d" (include "lightstream.fullname" .root) (int $values.service.port) | quote }}
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "lightstream.secrets" -}}
{{- if and (has "models" .program.opens) .root.Values.models.existingSecret }}
- secretRef: { name: {{ .root.Values.models.existingSecret }} }
{{- end }}
{{- if and (has "access" .program.opens) .root.Values.access.existingSecret }}
- secretRef: { name: {{ .root.Values.access.existingSecret }} }
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

{{- /* What stands beside the containers of every pod. */ -}}
{{- define "lightstream.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "lightstream.podSecurity" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: scratch
    emptyDir: { sizeLimit: {{ .Values.scratch }} }
  {{- if include "lightstream.busFiles" . }}
  - name: bus
    secret: { secretName: {{ .Values.bus.tls.existingSecret }}, defaultMode: 0440 }
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "lightstream.mounts" -}}
- { name: scratch, mountPath: /tmp }
{{- if include "lightstream.busFiles" . }}
- { name: bus, mountPath: /run/bus, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}
