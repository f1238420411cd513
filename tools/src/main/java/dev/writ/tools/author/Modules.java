package dev.writ.tools.author;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The modules that a tool may use beside its own and its vendored ones: a part of the language's
 * library ({@code modules.json}), and more with the capabilities network and spawn.
 */
final class Modules {
  private final ToolSource source;
  private final TreeSet<String> paths;

  Modules(ToolProject project) {
    this.source = project.source();
    this.paths = new TreeSet<>(project.files().keySet());
  }

  /** Why a reference is refused; empty if it is allowed. */
  Optional<String> refusal(Reference reference) {
    if (reference.dynamic()) {
      return Optional.of(reference.name() + " loads what only a run can show");
    }
    String name = reference.name();
    return switch (source.language().text()) {
      case "python" -> python(name);
      case "node" -> node(name, reference.path());
      case "java" -> java(name);
      default -> Optional.empty();
    };
  }

  private Optional<String> python(String name) {
    String first = name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
    List<String> allowed = allowed("python");
    boolean holds =
        name.startsWith(".") || allowed.contains(name) || allowed.contains(first) || carries(first);
    return holds ? Optional.empty() : Optional.of("module " + name + " is none that it may use");
  }

  /** Whether the package has a module of that name beside its entry or below vendor/. */
  private boolean carries(String module) {
    String beside = source.entry().substring(0, source.entry().lastIndexOf('/') + 1);
    return List.of(beside, ToolLock.VENDOR).stream()
        .anyMatch(in ->
            paths.contains(in + module + ".py") || paths.contains(in + module + "/__init__.py"));
  }

  private Optional<String> node(String name, String from) {
    if (name.startsWith("./") || name.startsWith("../")) {
      String at = Path.of("/" + from).resolveSibling(name).normalize().toString().substring(1);
      if (!paths.contains(at)) {
        return Optional.of("the package has no " + at);
      }
      // require() would take a file with any other extension for JavaScript.
      return source.language().isSource(at) || at.endsWith(".json")
          ? Optional.empty()
          : Optional.of(at + " is no source");
    }
    String plain = name.startsWith("node:") ? name.substring("node:".length()) : name;
    return allowed("node").contains(plain)
        ? Optional.empty()
        : Optional.of(
            "module " + name + " is none that it may use; import what vendor/ has by path");
  }

  private Optional<String> java(String name) {
    List<String> prohibited = new ArrayList<>(list("java_prohibited"));
    if (source.network().isEmpty()) {
      prohibited.addAll(list("java_network"));
    }
    if (!source.spawn()) {
      prohibited.addAll(list("java_spawn"));
    }
    return prohibited.stream()
        .filter(p -> name.equals(p) || name.startsWith(p + "."))
        .findFirst()
        .map(p -> name + " is none that it may use");
  }

  private List<String> allowed(String language) {
    List<String> allowed = new ArrayList<>(list(language));
    if (!source.network().isEmpty()) {
      allowed.addAll(list(language + "_network"));
    }
    if (source.spawn()) {
      allowed.addAll(list(language + "_spawn"));
    }
    return allowed;
  }

  private static List<String> list(String key) {
    return Holder.LISTS.get(key) instanceof JsonValue.Arr names
        ? names.items().stream().map(name -> ((JsonValue.Str) name).value()).toList()
        : List.of();
  }

  private static final class Holder {
    static final JsonValue.Obj LISTS = read();

    private static JsonValue.Obj read() {
      try (InputStream in = Modules.class.getResourceAsStream("modules.json")) {
        return (JsonValue.Obj) Jcs.parse(in.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
