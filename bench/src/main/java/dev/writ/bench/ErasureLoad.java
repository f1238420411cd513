package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.fixture.SystemDocuments;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Prints what one order of erasure takes where a subject has many contents, each of its own and
 * sealed under the subject's key: seconds, and bytes on the disk before and after.
 */
public final class ErasureLoad {
  private static final String SEALED =
      "retention: { rules: [], sealed: { contents: [outputs], by: subject } }\n";

  private static final int OF_A_RUN = 100;

  private ErasureLoad() {}

  /**
   * @param arguments a folder that is not there yet, how many effects, and the bytes of each output
   */
  public static void main(String[] arguments) {
    Path folder = Path.of(arguments[0]);
    int effects = Integer.parseInt(arguments[1]);
    LabTool tool = LabTool.letters(Integer.parseInt(arguments[2]));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BenchEngines.with(
            SignatureEngines.fastest(),
            () -> {
              try (Lab lab = new Lab(folder, tool, SEALED)) {
                made(lab, effects, out);
                erased(lab, folder, out);
              }
              return new Cost(0, 0);
            })
        .cost();
    long began = System.nanoTime();
    GrowthTask.fsck(folder);
    print(out, "fsck finds nothing, in %.1f s", seconds(began));
    System.exit(0);
  }

  private static double seconds(long began) {
    return (System.nanoTime() - began) / 1e9;
  }

  private static void print(PrintStream out, String format, Object... values) {
    out.println(String.format(Locale.ROOT, format, values));
  }

  private static void made(Lab lab, int effects, PrintStream out) {
    long began = System.nanoTime();
    for (int done = 0; done < effects; done += LedgerSteps.CALLERS * OF_A_RUN) {
      List<List<byte[]>> requests = new ArrayList<>();
      for (int i = 0; i < LedgerSteps.CALLERS; i++) {
        requests.add(lab.requests("run-" + done + "-" + i, OF_A_RUN));
      }
      Stopwatch.concurrently(
          LedgerSteps.CALLERS, OF_A_RUN, n -> requests.get(n).forEach(lab::submit));
    }
    print(out, "made in %.1f s, requests included", seconds(began));
  }

  private static void erased(Lab lab, Path folder, PrintStream out) {
    long before = GrowthTask.sizeOf(folder);
    Envelope order =
        SystemDocuments.change(
            EventKind.CONTENTS_ERASED,
            new ErasureOrder(Lab.TENANT, Optional.of(Lab.AGENT), Optional.empty()).toJson(),
            Instant.now());
    long began = System.nanoTime();
    lab.kernel().change(order);
    double took = seconds(began);
    if (ContentRetention.erasedAt(lab.ledger(), order.id()).isEmpty()) {
      throw new IllegalStateException("the order is not carried out");
    }
    print(
        out,
        "erased in %.1f s: %,d bytes before, %,d after",
        took,
        before,
        GrowthTask.sizeOf(folder));
  }
}
