package dev.writ.tools.author;

import java.util.List;
import java.util.Locale;

/** A language that a tool can be written in; the driver of the same name runs it. */
public enum Language {
  PYTHON,
  NODE,
  JAVA,
  WASM,
  /** Any executable that speaks the worker protocol. */
  PROCESS;

  /** All of them, in the order of their declaration. */
  public static final List<Language> ALL = List.of(values());

  /** The word in {@code tool.manifest}, and the name of the driver. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
