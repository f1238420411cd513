# What deploy/images/start makes for this image: see there.
made_by_this_image() {
  writ init --tenant acme --agent orchestrator --policy /etc/writ/policy.yaml
  writ key new surface-execute --role surface --tenant acme --subject execute
}
