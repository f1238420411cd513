package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.Session;
import java.util.Optional;
import java.util.function.Function;

/** A file that an option names. A command has several, so what is wrong with one names it. */
final class NamedFile {
  private NamedFile() {}

  /**
   * @param form reads its bytes
   * @return empty where the option is not given
   * @throws WritException {@code CLI-002} where it cannot be read; what the form says of its bytes
   */
  static <T> Optional<T> of(
      Session session, Arguments arguments, String option, Function<byte[], T> form) {
    return arguments
        .option(option)
        .map(file -> {
          byte[] content = session.read(file);
          try {
            return form.apply(content);
          } catch (WritException e) {
            String what = isArchive(content) ? "an archive, as bundles are: " : "";
            throw new WritException(e.code(), file + " (" + option + "): " + what + e.found(), e);
          }
        });
  }

  private static boolean isArchive(byte[] content) {
    return content.length > 1 && content[0] == 'P' && content[1] == 'K';
  }
}
