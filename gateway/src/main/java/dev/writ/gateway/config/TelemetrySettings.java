package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.yaml.Section;
import java.time.Duration;
import java.util.Optional;

/**
 * Where spans, metrics and log lines are sent.
 *
 * @param otlp where OTLP/HTTP is spoken, for example {@code http://127.0.0.1:4318/v1/traces}
 * @param percent of the calls without a trace of their own whose spans are sent
 * @param metrics the same address for metrics, {@code …/v1/metrics}
 * @param logs the same for the lines of the log, {@code …/v1/logs}
 * @param every how often metrics are sent
 */
public record TelemetrySettings(
    String otlp, int percent, Optional<String> metrics, Optional<String> logs, Duration every) {
  static TelemetrySettings read(Section s) {
    TelemetrySettings telemetry =
        new TelemetrySettings(
            address(s, "otlp"),
            s.optional("percent", k -> (int) s.between(k, 0, 100)).orElse(100),
            s.optional("metrics", k -> address(s, k)),
            s.optional("logs", k -> address(s, k)),
            Duration.ofSeconds(s.optional("every_s", k -> s.between(k, 1, 3_600)).orElse(60L)));
    s.end();
    return telemetry;
  }

  private static String address(Section s, String key) {
    String url = s.name(key);
    if (!url.matches("https?://[!-~]{1,250}")) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "telemetry/" + key + " is no http address");
    }
    return url;
  }
}
