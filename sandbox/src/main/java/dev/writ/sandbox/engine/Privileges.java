package dev.writ.sandbox.engine;

import java.nio.file.Path;
import java.util.List;

/** Steps down from root. */
final class Privileges {
  private Privileges() {}

  /**
   * The beginning of a command line that runs the rest as another user, without root's privileges.
   */
  static List<String> drop(Path setpriv, long uid) {
    String id = Long.toString(uid);
    return List.of(
        setpriv.toString(),
        "--reuid",
        id,
        "--regid",
        id,
        "--clear-groups",
        "--bounding-set=-all",
        "--inh-caps=-all",
        "--no-new-privs",
        "--pdeathsig",
        "KILL");
  }
}
