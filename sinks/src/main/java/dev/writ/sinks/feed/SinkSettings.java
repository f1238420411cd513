package dev.writ.sinks.feed;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** The settings of one sink in the configuration, each of which may be read once. */
public final class SinkSettings {
  private final String sink;
  private final TreeMap<String, String> left;

  public SinkSettings(String sink, Map<String, String> settings) {
    this.sink = sink;
    this.left = new TreeMap<>(settings);
  }

  public Optional<String> text(String key) {
    return Optional.ofNullable(left.remove(key));
  }

  /**
   * @throws WritException {@code GWY-002}
   */
  public String required(String key) {
    return text(key).orElseThrow(() -> wrong(key, "is missing"));
  }

  /**
   * @throws WritException {@code GWY-002} for anything but 1 to 10^15 − 1
   */
  public OptionalLong count(String key) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return OptionalLong.empty();
    }
    if (!text.get().matches("[1-9][0-9]{0,14}")) {
      throw wrong(key, "is no number above zero");
    }
    return OptionalLong.of(Long.parseLong(text.get()));
  }

  /**
   * Refuses settings that nothing has read.
   *
   * @throws WritException {@code GWY-002}
   */
  public void end() {
    if (!left.isEmpty()) {
      throw wrong(left.firstKey(), "is no setting of this kind of sink");
    }
  }

  public WritException wrong(String key, String found) {
    return new WritException(GatewayError.CONFIG_FIELD, "sinks/" + sink + "/" + key + " " + found);
  }
}
