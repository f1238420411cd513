package dev.writ.tools.author;

import java.util.List;
import java.util.Locale;

/** A language that a tool can be written in; the driver of the same name runs it. */
public enum Language {
  PYTHON("src/tool.py"),
  NODE("src/tool.mjs"),
  JAVA("src/Tool.java"),
  WASM("tool.wasm"),
  /** Any executable that speaks the worker protocol. */
  PROCESS("bin/tool");

  /** All of them, in the order of their declaration. */
  public static final List<Language> ALL = List.of(values());

  private final String entry;

  Language(String entry) {
    this.entry = entry;
  }

  /** The word in {@code tool.manifest}, and the name of the driver. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What a new project calls the file that holds the operations. */
  public String entry() {
    return entry;
  }
}
