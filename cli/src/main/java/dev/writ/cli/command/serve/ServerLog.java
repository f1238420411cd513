package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.console.oidc.OidcError;
import dev.writ.console.web.SignOutSurface;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.tools.registry.BrokenPackage;
import java.io.PrintStream;

/** The log of {@code writ serve}, one JSON object a line on stderr. */
final class ServerLog {
  /** The exit status of a JVM with ExitOnOutOfMemoryError. */
  private static final int OUT_OF_MEMORY = 3;

  private ServerLog() {}

  static PrintStream stream(Session session) {
    return session.terminal().err();
  }

  static JsonLog of(Session session) {
    return new JsonLog(stream(session), Homes.clock());
  }

  /**
   * A full heap ends the JVM by an option that the launcher sets; this ends it when other memory is
   * exhausted. The supervisor of the process starts it again.
   */
  static void uncaught(JsonLog log, Throwable e) {
    if (e instanceof OutOfMemoryError) {
      Runtime.getRuntime().halt(OUT_OF_MEMORY);
    }
    log.failed(e);
  }

  static void signInRefused(Session session, WritException refused) {
    JsonLog.write(
        stream(session),
        JsonValue.object()
            .put("at", Homes.clock().instant())
            .put("level", refused.code() == OidcError.UNREACHED ? "error" : "info")
            .put("event", "sign-in")
            .put("code", refused.code().code())
            .put("detail", refused.found())
            .build());
  }

  static void sessionsEnded(Session session, SignOutSurface.Ended ended) {
    JsonLog.write(
        stream(session),
        JsonValue.object()
            .put("at", Homes.clock().instant())
            .put("level", "info")
            .put("event", "sessions-ended")
            .put("tenant", ended.tenant())
            .put("subject", ended.subject())
            .put("who", ended.by())
            .put("count", ended.count())
            .build());
  }

  static void broken(Session session, BrokenPackage broken) {
    WritException why = broken.why();
    String found = broken.name() + " " + broken.version() + ": " + why.found();
    of(session).refused("package", new WritException(why.code(), found, why));
  }

  static void warmUp(Session session, String how) {
    of(session).event("warm-up", how);
  }
}
