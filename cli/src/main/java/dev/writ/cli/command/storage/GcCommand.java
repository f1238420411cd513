package dev.writ.cli.command.storage;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.home.HomeSurface;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.StorageUse;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** {@code writ gc}: removes uploads that nothing needs, as a server does every ten minutes. */
public final class GcCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "gc",
        "Remove uploads that no document names and whose lifetime is over; show what tenants"
            + " store.",
        "A server does it by itself, every ten minutes. Policy's storage section sets the"
            + " lifetime.");
  }

  record Collected(Ledger.Collected collected, SortedMap<String, StorageUse> used, long bytesMax)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("removed_uploads", collected.claims())
          .put("removed_blobs", collected.blobs())
          .put("removed_bytes", collected.bytes())
          .put("bytes_max", bytesMax)
          .putList(
              "tenants",
              List.copyOf(used.entrySet()),
              entry ->
                  JsonValue.object()
                      .put("tenant", entry.getKey())
                      .put("uploads", entry.getValue().blobs())
                      .put("bytes", entry.getValue().bytes())
                      .build())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    session.show(
        Homes.write(session, GcCommand::collect, GcCommand::collectedBy), GcCommand::print);
    return ExitCode.OK;
  }

  private static Collected collect(OpenHome home) {
    Ledger.Collected collected = home.kernel().contents().collect(home.kernel().now());
    return new Collected(
        collected,
        home.kernel().contents().storageUse(),
        home.kernel().system().policyInForce().storage().bytesMax());
  }

  private static Collected collectedBy(HomeServer server) {
    Fields fields = Fields.of("answer", server.order(HomeSurface.COLLECT, new byte[0]));
    TreeMap<String, StorageUse> used = new TreeMap<>();
    for (JsonValue each : fields.list("tenants", (_, value) -> value)) {
      Fields tenant = Fields.of("tenants", each);
      used.put(
          tenant.name("tenant"), new StorageUse(tenant.count("bytes"), tenant.count("uploads")));
    }
    return new Collected(
        new Ledger.Collected(fields.count("uploads"), fields.count("blobs"), fields.count("bytes")),
        used,
        fields.count("bytes_max"));
  }

  private static void print(Collected report, Terminal terminal) {
    Ledger.Collected collected = report.collected();
    terminal
        .out()
        .println(
            "removed "
                + collected.claims()
                + " uploads, "
                + collected.blobs()
                + " blobs, "
                + collected.bytes()
                + " bytes");
    if (report.used().isEmpty()) {
      return;
    }
    Table table =
        new Table()
            .column("tenant", Table.Fit.CUT)
            .numbers("uploads")
            .numbers("bytes")
            .numbers("at most");
    for (Map.Entry<String, StorageUse> entry : report.used().entrySet()) {
      table.row(
          Table.cell(entry.getKey()),
          Table.cell(String.valueOf(entry.getValue().blobs())),
          Table.cell(String.valueOf(entry.getValue().bytes())),
          Table.cell(String.valueOf(report.bytesMax())));
    }
    terminal.print(table);
  }
}
