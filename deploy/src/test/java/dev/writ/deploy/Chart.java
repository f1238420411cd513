package dev.writ.deploy;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import java.util.List;
import java.util.Map;

/** The Helm chart, rendered by Helm itself. */
final class Chart {
  static final String RELEASE = "tool-gateway";

  private Chart() {}

  static Helm helm() {
    return new Helm(Project.deploy().resolve("helm/tool-gateway"));
  }

  /** What a user gets who installs it under the seed's name. */
  static String text(Map<String, Object> values) {
    TemplateCommand command = helm().template().withName(RELEASE).withNamespace("default");
    values.forEach(command::set);
    return command.call();
  }

  static List<Map<?, ?>> objects(Map<String, Object> values) {
    return Project.documents(text(values));
  }
}
