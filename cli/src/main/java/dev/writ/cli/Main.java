package dev.writ.cli;

import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import java.util.List;

/** The process. Ctrl-C ends it by the JVM's own handler, with status 130. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    int refused = DescriptorCheck.refused(List.of(args));
    if (refused != 0) {
      System.exit(refused);
    }
    Session session = new Session(Terminal.ofProcess(), System.getenv());
    int status = new Cli(session).run(args);
    // Halt at once: a thread of a tool or library must not keep the process alive.
    System.exit(status);
  }
}
