{{- define "labels" -}}
app: {{ .Release.Name }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- /* Probes speak HTTP to this port, so TLS is what is in front of the pod. */ -}}
{{- define "port" -}}
{{- with .Values.gateway.listen -}}
{{- if ne .tls "proxy" -}}
{{- fail "gateway.listen.tls: the pod's probes and its Service speak HTTP, so it has to be proxy" -}}
{{- end -}}
{{- int .port -}}
{{- end -}}
{{- end }}

{{- define "image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "claim" -}}
{{- $values := (index . 0).Values -}}
accessModes: [ReadWriteOnce]
{{- with $values.storage.className }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ index . 1 }}
{{- end }}

{{- /* The configuration of one replica. "writ-start" puts its address in. */ -}}
{{- define "gateway" -}}
{{- $gateway := deepCopy .Values.gateway -}}
{{- with .Values.cells -}}
{{- if .join -}}
{{- if contains "FIRST_TOKEN" (toYaml $gateway) -}}
{{- fail "gateway.tokens: FIRST_TOKEN would be another token in each replica; name digests that `writ config token` printed" -}}
{{- end -}}
{{- $files := "/etc/writ/certificate" -}}
{{- $own := dict "host" "0.0.0.0" "port" .port "address" "CELL_ADDRESS" "certificate" (print $files "/tls.crt") "key" (print $files "/tls.key") "ca" (print $files "/ca.crt") -}}
{{- $gateway = mergeOverwrite $gateway (dict "cells" $own) -}}
{{- end -}}
{{- end -}}
{{- toYaml $gateway -}}
{{- end }}

{{- define "kubernetes-settings" -}}
{{- $settings := deepCopy .Values.sandbox.kubernetes -}}
{{- $_ := required "sandbox.kubernetes.helper: an image with a static BusyBox, by its digest" $settings.helper -}}
{{- $_ := set $settings "namespace" .Release.Namespace -}}
{{- with $settings.proxy -}}
{{- $_ := set . "pods" (dict "app" $.Release.Name) -}}
{{- end -}}
{{- toJson $settings -}}
{{- end }}
