package dev.writ.replay;

import java.nio.file.Path;

/** {@code BUNDLE}: verifies it in a process of its own, whose heap the caller bounds. */
final class VerifyFile {
  private VerifyFile() {}

  public static void main(String[] args) {
    long start = System.nanoTime();
    try (Bundle bundle = Bundle.open(Path.of(args[0]))) {
      BundleVerifier.Verified verified =
          BundleVerifier.verify(bundle, BundleVerifier.Options.pinned(Sample.pins()), _ -> {});
      verified.verified().forEach(System.out::println);
    }
    System.out.println("took " + (System.nanoTime() - start) / 1_000_000 + " ms");
  }
}
