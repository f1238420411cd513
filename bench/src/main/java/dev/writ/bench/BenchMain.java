package dev.writ.bench;

import dev.writ.canonicalize.json.Jcs;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * {@code writ bench} without the rest of the command line: what it measures is in {@link Bench}.
 */
public final class BenchMain {
  private static final String USAGE =
      """
      Usage: writ bench [--quick] [--json] [--only TEXT] [--dir DIR] [--effects N]
                        [--database URI]
             writ bench --growth N [--json] [--dir DIR]

      Measures each step against what it cannot be faster than, in one run.

        --quick      about 20 seconds instead of two minutes
        --json       the rows as JSON
        --only TEXT  only the steps whose names contain TEXT
        --database URI  steps named "database" as well, in this PostgreSQL database: the schema
                     writ_bench is made there, and removed
        --effects N  effects of the run whose bundle is verified; 16667 are 100,000 events
        --growth N   how cost grows, with 1,000 effects, 10,000 and so on up to N, instead; also
                     writes growth.svg into DIR
        --dir DIR    where to write (default: the folder for temporary files); the disk counts
      """;

  private BenchMain() {}

  private record Options(
      Plan plan, boolean json, String only, Optional<URI> database, Path dir, int growth) {}

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    Options options;
    try {
      options = options(args);
    } catch (IllegalArgumentException e) {
      System.err.println("writ: " + e.getMessage() + " (in writ bench; see writ bench --help)");
      System.exit(2);
      return;
    }
    if (options == null) {
      out.print(USAGE);
      return;
    }
    if (options.growth > 0) {
      growth(options, out);
      System.exit(0);
    }
    BenchReport report =
        Bench.measure(
            options.plan, options.only, options.database, options.dir, System.err::println);
    if (options.json) {
      out.write(Jcs.write(report.toJson()));
      out.println();
    } else {
      report.print(out);
    }
    out.flush();
    System.exit(0); // at once: a library's thread must not keep the process alive
  }

  private static void growth(Options options, PrintStream out) throws IOException {
    GrowthReport report = Growth.measure(options.growth, options.dir, System.err::println);
    Files.writeString(options.dir.resolve("growth.svg"), report.plot());
    if (options.json) {
      out.write(Jcs.write(report.toJson()));
      out.println();
    } else {
      report.print(out);
    }
    out.flush();
  }

  /** Null where help is asked for. */
  private static Options options(String[] args) {
    Plan plan = Plan.FULL;
    boolean json = false;
    String only = "";
    Optional<URI> database = Optional.empty();
    int effects = 0;
    int growth = 0;
    Path dir = Path.of(System.getProperty("java.io.tmpdir"));
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--quick" -> plan = Plan.QUICK;
        case "--json" -> json = true;
        case "--only" -> only = value(args, ++i);
        case "--database" -> database = Optional.of(URI.create(value(args, ++i)));
        case "--effects" -> effects = Integer.parseInt(value(args, ++i));
        case "--growth" -> growth = Integer.parseInt(value(args, ++i));
        case "--dir" -> dir = Path.of(value(args, ++i));
        case "--help", "-h" -> {
          return null;
        }
        default -> throw new IllegalArgumentException("no option " + args[i]);
      }
    }
    return new Options(
        effects > 0 ? plan.verifying(effects) : plan, json, only, database, dir, growth);
  }

  private static String value(String[] args, int i) {
    if (i >= args.length) {
      throw new IllegalArgumentException(args[i - 1] + " needs a value");
    }
    return args[i];
  }
}
