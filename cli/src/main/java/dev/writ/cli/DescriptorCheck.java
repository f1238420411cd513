package dev.writ.cli;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Descriptors;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.error.CliError;
import java.util.List;
import java.util.Locale;

/**
 * Refuses to serve with too few descriptors before anything else is loaded: with 64 the JVM cannot
 * even open the libraries of the command line. So it uses none of them, not even to print.
 */
final class DescriptorCheck {
  private static final long MIN = 512;

  /**
   * The status of {@link ExitCode#UNAVAILABLE}; using that class would load classes of every
   * module.
   */
  private static final int UNAVAILABLE = 6;

  private DescriptorCheck() {}

  /**
   * @return the status with which the process must end at once; 0 to go on
   */
  static int refused(List<String> args) {
    if (!args.contains("serve")) {
      return 0;
    }
    long limit = Descriptors.limit().orElse(MIN);
    if (limit >= MIN) {
      return 0;
    }
    CliError code = CliError.FEW_DESCRIPTORS;
    String found = limit + ", at least " + MIN + " are needed";
    System.err.println(
        args.contains("--json")
            ? String.format(
                Locale.ROOT,
                "{\"error\":{\"code\":\"%s\",\"found\":\"%s\",\"meaning\":\"%s\",\"remedy\":\"%s\"}}",
                code.code(),
                found,
                code.meaning(),
                code.remedy())
            : "writ: " + new WritException(code, found).getMessage());
    return UNAVAILABLE;
  }
}
