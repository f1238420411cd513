package dev.writ.replay.engine;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.fixture.TestDriver;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import java.nio.file.Path;
import java.util.List;

/** Verifies and replays a bundle in a process of its own, and prints the result. */
final class ReplayFile {
  private ReplayFile() {}

  public static void main(String[] args) {
    try (Bundle bundle = Bundle.open(Path.of(args[0]))) {
      if (args.length < 2) {
        BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
      }
      ReplayResult result =
          new Replay(bundle.ahead(), ReplayOptions.recorded(List.of(new TestDriver())).withAll())
              .run();
      System.out.writeBytes(Jcs.write(result.toJson()));
      System.out.flush();
    }
  }
}
