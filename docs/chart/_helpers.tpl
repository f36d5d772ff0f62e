{{/* The name of all objects, and their label. */}}
{{- define "kwok.name" -}}
{{- $last := .Values.nameOverride | default .Chart.Name -}}
{{- .Values.fullnameOverride | default (printf "%s-%s" .Release.Name $last) | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* Which address nodes get, from the environment of the pod. */}}
{{- define "kwok.address" -}}
{{- if eq .Values.kubeletThrough "pod" -}}
POD_IP
{{- else -}}
{{ include "kwok.name" . | upper | replace "-" "_" }}_SERVICE_HOST
{{- end -}}
{{- end }}

{{/* The names of the sets of Stages in force: those that are named, and the default ones of other parts. */}}
{{- define "kwok.sets" -}}
{{- $all := (.Files.Get "files/sets.yaml" | fromYaml).sets -}}
{{- $known := list -}}
{{- $parts := dict -}}
{{- $found := list -}}
{{- range $all -}}
  {{- $known = append $known .name -}}
  {{- if and .part (has .name $.Values.stages) -}}
    {{- if hasKey $parts .part -}}
      {{- fail (printf "stages: '%s' and '%s' exclude each other: both are for all %s" (get $parts .part) .name .part) -}}
    {{- end -}}
    {{- $_ := set $parts .part .name -}}
  {{- end -}}
{{- end -}}
{{- range .Values.stages -}}
  {{- if not (has . $known) -}}
    {{- fail (printf "stages: '%s' is not a set of Stages; sets are %s" . (join ", " $known)) -}}
  {{- end -}}
{{- end -}}
{{- range $all -}}
  {{- if or (has .name $.Values.stages) (and .usual (not (hasKey $parts .part))) -}}
    {{- $found = append $found .name -}}
  {{- end -}}
{{- end -}}
{{- join "," $found -}}
{{- end }}

{{/* The rights that sets need beside those of all. */}}
{{- define "kwok.rules" -}}
{{- $names := splitList "," (include "kwok.sets" .) -}}
{{- range (.Files.Get "files/sets.yaml" | fromYaml).sets -}}
  {{- if and .rules (has .name $names) }}
{{ toYaml .rules }}
  {{- end -}}
{{- end -}}
{{- end }}

{{/* The documents of the ConfigMap. */}}
{{- define "kwok.configuration" -}}
{{- .Files.Get "files/kwok.yaml" -}}
{{- range splitList "," (include "kwok.sets" .) -}}
{{- $.Files.Get (printf "files/stages/%s.yaml" .) -}}
{{- end -}}
{{- end }}

{{/* The newest version of mutating policies that the cluster serves. */}}
{{- define "kwok.steering" -}}
{{- $served := .Capabilities.APIVersions -}}
{{- $kind := "admissionregistration.k8s.io/%s/MutatingAdmissionPolicy" -}}
{{- if and ($served.Has (printf $kind "v1beta1")) (not ($served.Has (printf $kind "v1"))) -}}
v1beta1
{{- else -}}
v1
{{- end -}}
{{- end }}
