package dev.writ.verify.bundle;

import java.nio.file.Path;

/** {@code BUNDLE}: verifies it in a process of its own, whose heap the caller bounds. */
final class VerifyFile {
  private VerifyFile() {}

  public static void main(String[] args) {
    long start = System.nanoTime();
    try (Bundle bundle = Bundle.open(Path.of(args[0]))) {
      BundleVerifier.verify(
          bundle,
          BundleVerifier.Options.pinned(Sample.pins()),
          line -> System.out.println((System.nanoTime() - start) / 1_000_000 + " ms  " + line));
    }
    long cpu =
        ((com.sun.management.OperatingSystemMXBean)
                java.lang.management.ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    long heap =
        java.lang.management.ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == java.lang.management.MemoryType.HEAP)
            .mapToLong(pool -> pool.getPeakUsage().getUsed())
            .sum();
    System.out.println(
        "took "
            + (System.nanoTime() - start) / 1_000_000
            + " ms, processor "
            + cpu / 1_000_000
            + " ms, heap at most "
            + heap / (1 << 20)
            + " MiB");
  }
}
