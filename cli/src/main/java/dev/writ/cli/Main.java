package dev.writ.cli;

import dev.writ.cli.base.EndingProcess;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.gateway.ops.OldGeneration;
import java.util.List;

/** The process. Ctrl-C ends it by the JVM's own handler, with status 130. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    int refused = DescriptorCheck.refused(List.of(args));
    if (refused != 0) {
      System.exit(refused);
    }
    if ("small".equals(System.getProperty("writ.heap"))) {
      OldGeneration.keepSmall();
    }
    Session session = new Session(Terminal.ofProcess(), System.getenv());
    Cli cli = new Cli(session);
    int status = cli.run(args);
    // Either way at once: a thread of a tool or library must not keep the process alive.
    if (cli.endsAtOnce() && isPlainStart(session) && !EndingProcess.isEnding()) {
      Runtime.getRuntime().halt(status);
    }
    System.exit(status);
  }

  /**
   * Whether nothing wants to see this process end: not the training of an AOT cache, which is
   * written then, and no recorder among options of the JVM that the user has set. {@code exit}
   * looks into every jar of the class path for a logger to log itself to.
   */
  private static boolean isPlainStart(Session session) {
    return "aot".equals(System.getProperty("writ.start"))
        && session.environment().getOrDefault("WRIT_JAVA_OPTS", "").isEmpty()
        && session.environment().getOrDefault("JAVA_TOOL_OPTIONS", "").isEmpty()
        && session.environment().getOrDefault("JDK_JAVA_OPTIONS", "").isEmpty();
  }
}
