import java.util.Map;

/**
 * Each operation is a public static method of its name: it takes the input and gives the output.
 */
public final class Tool {
  private Tool() {}

  public static Object count(Map<String, Object> input, Map<String, Object> context) {
    String text = (String) input.get("text");
    return Map.of(
        "lines", text.chars().filter(c -> c == '\n').count(),
        "words", text.isBlank() ? 0 : text.strip().split("\\s+").length,
        "characters", text.codePointCount(0, text.length()));
  }
}
