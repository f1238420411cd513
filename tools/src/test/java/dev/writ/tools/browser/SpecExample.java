package dev.writ.tools.browser;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The blocks of JSON in spec/tool-browser.md, in their order. */
final class SpecExample {
  private SpecExample() {}

  static List<JsonValue.Obj> blocks() throws IOException {
    Path page = Path.of(System.getProperty("writ.root"), "spec", "tool-browser.md");
    List<JsonValue.Obj> blocks = new ArrayList<>();
    String[] parts = Files.readString(page, StandardCharsets.UTF_8).split("```json\n");
    for (int i = 1; i < parts.length; i++) {
      String block = parts[i].substring(0, parts[i].indexOf("```"));
      blocks.add((JsonValue.Obj) Jcs.parse(block.getBytes(StandardCharsets.UTF_8)));
    }
    return blocks;
  }
}
