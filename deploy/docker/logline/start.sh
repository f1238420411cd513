# What deploy/images/start makes for this image: see there.
made_by_this_image() {
  writ init --tenant tenant_abc --agent agent --policy /etc/writ/policy.yaml
  writ key new surface-logline --role surface --tenant tenant_abc --subject logline
}
