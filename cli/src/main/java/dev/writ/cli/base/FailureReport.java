package dev.writ.cli.base;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.ErrorJson;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/**
 * Says on stderr why a command ended badly: one line, or one JSON object; never a stack trace. Says
 * nothing where a signal ended it.
 */
public final class FailureReport {
  private static final int CAUSES_MAX = 32;

  private final Session session;

  public FailureReport(Session session) {
    this.session = session;
  }

  public ExitCode refused(WritException e) {
    say(e.code(), e.found());
    return ExitCode.of(e.code());
  }

  public ExitCode unexpected(Throwable e) {
    if (EndingProcess.isEnding()) {
      return ExitCode.INTERNAL;
    }
    String what = e.getClass().getSimpleName();
    if (e instanceof OutOfMemoryError && says(e, "unable to create native thread")) {
      return refused(new WritException(CliError.FEW_THREADS, "", e));
    }
    if (isForWantOfFiles(e)) {
      return refused(new WritException(CliError.FEW_DESCRIPTORS, what, e));
    }
    try {
      Path log = Files.createTempFile("writ-", ".log");
      StringWriter text = new StringWriter();
      text.append("writ ").append(Version.text()).append("\n");
      text.append("java ").append(Runtime.version().toString()).append("\n");
      e.printStackTrace(new PrintWriter(text));
      Files.writeString(log, text.toString());
      what += ", log: " + log;
    } catch (IOException | LinkageError | InternalError f) { // the JDK reads files for its name
      if (isForWantOfFiles(f)) {
        return refused(new WritException(CliError.FEW_DESCRIPTORS, what, e));
      }
      what += ", and no log could be written: " + f.getClass().getSimpleName();
    }
    say(CliError.INTERNAL, what);
    return ExitCode.INTERNAL;
  }

  /** Whatever fails then: a class cannot be loaded from its jar, a certificate not be read. */
  private static boolean isForWantOfFiles(Throwable e) {
    int depth = 0;
    for (Throwable each = e; each != null && depth < CAUSES_MAX; each = each.getCause()) {
      if (says(each, "Too many open files")) {
        return true;
      }
      depth++;
    }
    return false;
  }

  private static boolean says(Throwable e, String words) {
    return String.valueOf(e.getMessage()).contains(words);
  }

  private void say(ErrorCode code, String found) {
    if (EndingProcess.isEnding()) {
      return;
    }
    Terminal terminal = session.terminal();
    terminal.out().flush();
    if (session.json()) {
      JsonValue.Obj error = JsonValue.object().put("error", ErrorJson.of(code, found)).build();
      terminal.err().writeBytes(Jcs.write(error));
      terminal.err().println();
      return;
    }
    String name = code.code();
    String line =
        Text.printable(
            " " + sentence(code.meaning() + (found.isEmpty() ? "" : ": " + found)) + code.remedy());
    terminal.err().println("writ: " + terminal.paintErr(Style.BAD, name) + line);
  }

  /** A question has its mark already. */
  private static String sentence(String text) {
    return text + (text.endsWith("?") || text.endsWith(".") ? " " : ". ");
  }

  /** A system error about a file, in words. */
  public static String describe(String file, IOException e) {
    return switch (e) {
      case NoSuchFileException _ -> file + " does not exist";
      case AccessDeniedException _ -> file + " is not yours to use";
      case FileAlreadyExistsException _ -> file + " is there already";
      case NotDirectoryException _ -> file + " is no folder";
      case DirectoryNotEmptyException _ -> file + " is not empty";
      default -> file + ": " + e.getMessage();
    };
  }
}
