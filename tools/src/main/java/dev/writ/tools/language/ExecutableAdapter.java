package dev.writ.tools.language;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.HostPrograms;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Any executable that speaks the protocol itself, such as a published .NET program. */
public final class ExecutableAdapter implements LanguageAdapter {
  private static final int HEAD_BYTES = 256; // Linux reads this much of a script's first line

  @Override
  public Language language() {
    return Language.PROCESS;
  }

  /**
   * None: the package brings its own; its {@code runtime} is the version of the worker protocol.
   */
  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.empty();
  }

  @Override
  public List<String> workers() {
    return List.of();
  }

  @Override
  public List<String> argv(ToolSource source) {
    return List.of(PACKAGE + "/" + source.entry());
  }

  /**
   * For a script its interpreter; for a static program an empty list. Of a program with libraries
   * of the host it is unknown what it needs, so it sees all programs of the profile.
   */
  @Override
  public Optional<List<String>> executables(ToolSource source, Path files) {
    byte[] head;
    try (InputStream in = Files.newInputStream(files.resolve(source.entry()))) {
      head = in.readNBytes(HEAD_BYTES);
    } catch (IOException e) {
      throw new WritException(ToolsError.ENTRY_MISSING, source.entry(), e);
    }
    String line = new String(head, StandardCharsets.ISO_8859_1).lines().findFirst().orElse("");
    return line.startsWith("#!") ? interpreter(line.substring(2).strip()) : Optional.empty();
  }

  private static Optional<List<String>> interpreter(String line) {
    List<String> words = List.of(line.split("[ \t]+"));
    List<String> programs = new ArrayList<>(List.of(inUsr(words.getFirst())));
    if (programs.getFirst().equals("/usr/bin/env") && words.size() == 2) {
      HostPrograms.find(words.get(1)).ifPresent(path -> programs.add(path.toString()));
    }
    return Optional.of(programs);
  }

  /** /bin is a link to /usr/bin, in the sandbox as on hosts. */
  private static String inUsr(String program) {
    return program.startsWith("/bin/") ? "/usr" + program : program;
  }
}
