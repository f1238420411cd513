package dev.writ.cli.command.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.embed.error.EmbedError;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.error.FileTrouble;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** Policies that are written for people: to a new file, or to the terminal. */
final class PolicyFiles {
  private PolicyFiles() {}

  private record Written(Policy policy, Optional<String> file) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putIfPresent("file", file, JsonValue::of)
          .put("policy", policy.toJson())
          .build();
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Writes the text to the file, or else shows it. */
  static void show(Session session, String text, Policy policy, Optional<String> file) {
    file.ifPresent(name -> write(name, text));
    session.show(
        new Written(policy, file),
        (written, terminal) ->
            written
                .file()
                .ifPresentOrElse(
                    name -> terminal.out().println("written: " + name),
                    () -> terminal.out().print(text)));
  }

  /** Never overwrites. */
  static void write(String file, String text) {
    try {
      Files.write(Path.of(file), bytes(text), StandardOpenOption.CREATE_NEW);
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.FILE_EXISTS, String.valueOf(file), e);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(Path.of(file), e), e);
    }
  }
}
