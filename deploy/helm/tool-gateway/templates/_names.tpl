{{- define "labels" -}}
app: {{ .Release.Name }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end -}}
{{- end -}}
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
