package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.TrustVectors.kid;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.policy.Policy;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.Remade;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The part of golden-vectors/bundle in which operators place tenants and cells (spec/cells.md,
 * "Placing" and "Regions"). One tenant is named by a key alone, one by a principal of the policy,
 * one by an approver.
 */
final class PlacementVectors {
  private static final String OF_A_KEY = "of-a-key";
  private static final String OF_A_PRINCIPAL = "other";
  private static final String OF_AN_APPROVER = "of-an-approver";
  private static final String UNNAMED = "new";

  /** Where the first statement behind the operator's key stands. */
  private static final int FIRST = 2;

  private static final String ROY = "  - { tenant: acme, subject: roy, roles: [reviewer] }\n";
  private static final Policy POLICY =
      Plot.policy(
          1,
          Optional.empty(),
          ROY,
          ROY + "  - { tenant: " + OF_AN_APPROVER + ", subject: ann, roles: [reviewer] }\n");

  private static final List<TestParty> PARTIES =
      Plot.PARTIES.stream()
          .filter(party ->
              List.of("operator", "owner", "guardian", "executor", "log", "alice")
                  .contains(party.name()))
          .toList();

  private static final class Holder {
    static final byte[] RECORDED = record();
  }

  private final List<Made> made = new ArrayList<>();

  private PlacementVectors() {}

  static List<Made> all() {
    PlacementVectors vectors = new PlacementVectors();
    vectors.tenants();
    vectors.tenantForms();
    vectors.moves();
    vectors.moveForms();
    vectors.regions();
    return vectors.made;
  }

  private static byte[] record() {
    TestTools tools = BundleVectors.tools();
    try (TestHome home = Scenario.setup(PARTIES, POLICY.toJson(), tools, Plot.START).found()) {
      home.enrol(TestKeys.trusted("stranger", KeyRole.AGENT, Optional.of(OF_A_KEY)));
      BundleVectors.submit(home, ask("alice", "calc", "n-1"), "alice");
      BundleVectors.close(home, "run-1");
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  private void add(
      String name, String about, String wanted, String kind, int place, JsonValue.Obj... details) {
    Remade remade = FullRun.remade(Holder.RECORDED);
    int at = place;
    for (JsonValue.Obj detail : details) {
      Instant time = remade.steps.get(at).at;
      Digest id =
          remade.bring(
              SystemChange.TYPE,
              new SystemChange(kind, detail, time).toJson(),
              List.of(kid("operator")));
      remade.bringSystemEvent(at, time, kind, id);
      at++;
    }
    made.add(Made.bundle("placed-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  /** Behind all else of the system run. */
  private static int last() {
    Remade remade = FullRun.remade(Holder.RECORDED);
    for (int i = 0; i < remade.steps.size(); i++) {
      if (remade.steps.get(i).kind.equals(EventKind.RUN_CLOSED)) {
        return i;
      }
    }
    throw new IllegalStateException("the run was not closed");
  }

  private void tenant(String name, String about, String wanted, int place, String... tenants) {
    JsonValue.Obj[] details = new JsonValue.Obj[tenants.length];
    for (int i = 0; i < tenants.length; i++) {
      details[i] = new TenantPlace(tenants[i], i + 1).toJson();
    }
    add("tenant-" + name, about, wanted, EventKind.TENANT_PLACED, place, details);
  }

  private void tenants() {
    tenant("new", "a tenant that nothing has named", "ok", last(), UNNAMED);
    tenant(
        "again",
        "the same tenant twice, before anything has named it",
        "ok",
        last(),
        UNNAMED,
        UNNAMED);
    tenant("first", "the run's own tenant, before its key and its policy", "ok", FIRST, "acme");
    tenant(
        "principals",
        "a principal of the policy has the tenant",
        "EXE-964",
        last(),
        OF_A_PRINCIPAL);
    tenant("approvers", "an approver has the tenant", "EXE-964", last(), OF_AN_APPROVER);
    tenant("keys", "an enrolled key has the tenant", "EXE-964", last(), OF_A_KEY);
  }

  private static JsonValue.Obj with(JsonValue.Obj detail, String member, JsonValue value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(detail.members());
    members.put(member, value);
    return new JsonValue.Obj(members);
  }

  private void tenantForms() {
    JsonValue.Obj good = new TenantPlace(UNNAMED, 255).toJson();
    String kind = EventKind.TENANT_PLACED;
    add(
        "tenant-last-cell",
        "the last cell that an installation can have",
        "ok",
        kind,
        last(),
        good);
    add(
        "tenant-cell-256",
        "a cell that no installation can have",
        "CAN-023",
        kind,
        last(),
        with(good, "cell", JsonValue.of(256)));
    add(
        "tenant-system-cell",
        "the system cell has no tenant",
        "CAN-023",
        kind,
        last(),
        with(good, "cell", JsonValue.of(0)));
    add(
        "tenant-more",
        "a member too many",
        "CAN-021",
        kind,
        last(),
        with(good, "region", JsonValue.of("eu-1")));
  }

  private static JsonValue.Obj move(String tenant, int from, int cell) {
    return new TenantMove(tenant, cell, from).toJson();
  }

  private void move(String name, String about, String wanted, JsonValue.Obj... details) {
    add("move-" + name, about, wanted, EventKind.TENANT_MOVED, last(), details);
  }

  private void moves() {
    move("first", "a tenant whose cell follows from its name", "ok", move("acme", 1, 2));
    move("of-a-key", "a tenant that a key alone has named", "ok", move(OF_A_KEY, 1, 255));
    move(
        "again",
        "on to a third cell, and back to the first",
        "ok",
        move("acme", 1, 2),
        move("acme", 2, 3),
        move("acme", 3, 1));
    move("unnamed", "nothing has named the tenant", "EXE-968", move(UNNAMED, 1, 2));
    move("to-itself", "it is there already", "EXE-968", move("acme", 2, 2));
    move(
        "from-elsewhere",
        "from a cell that it has left",
        "EXE-968",
        move("acme", 1, 2),
        move("acme", 1, 3));
    move(
        "others",
        "each tenant is where it is stated",
        "ok",
        move("acme", 1, 2),
        move(OF_A_KEY, 1, 3));
  }

  private void moveForms() {
    JsonValue.Obj good = move("acme", 1, 2);
    move("system-cell", "to the system cell", "CAN-023", with(good, "cell", JsonValue.of(0)));
    move("cell-256", "to no cell", "CAN-023", with(good, "cell", JsonValue.of(256)));
    move(
        "from-system-cell", "from the system cell", "CAN-023", with(good, "from", JsonValue.of(0)));
    move("from-256", "from no cell", "CAN-023", with(good, "from", JsonValue.of(256)));
    move("more", "a member too many", "CAN-021", with(good, "region", JsonValue.of("eu-1")));
  }

  private void region(String name, String about, String wanted, JsonValue.Obj detail) {
    add("cell-" + name, about, wanted, EventKind.CELL_PLACED, last(), detail);
  }

  private void regions() {
    JsonValue.Obj good =
        new CellRegions(1, List.of("eu-1", "eu-2"), CellRegions.FromElsewhere.REFUSE).toJson();
    region("refuse", "two regions, and requests from elsewhere are refused", "ok", good);
    region("forward", "they are forwarded", "ok", with(good, "elsewhere", JsonValue.of("forward")));
    region(
        "drop", "no such thing is done", "CAN-023", with(good, "elsewhere", JsonValue.of("drop")));
    region("system-cell", "the system cell", "CAN-023", with(good, "cell", JsonValue.of(0)));
    region("cell-256", "a cell that cannot be", "CAN-023", with(good, "cell", JsonValue.of(256)));
    region("none", "no region, and refused from elsewhere", "CAN-023", named(good));
    region(
        "anywhere",
        "no region: it may be anywhere again",
        "ok",
        with(named(good), "elsewhere", JsonValue.of("forward")));
    region("eight", "as many as can be", "ok", named(good, "a", "b", "c", "d", "e", "f", "g", "h"));
    region("nine", "one more", "CAN-023", named(good, "a", "b", "c", "d", "e", "f", "g", "h", "i"));
    region("twice", "one region twice", "CAN-023", named(good, "eu-1", "eu-2", "eu-1"));
    region("name", "no region has such a name", "CAN-023", named(good, "-eu"));
    region("more", "a member too many", "CAN-021", with(good, "tenant", JsonValue.of(UNNAMED)));
  }

  private static JsonValue.Obj named(JsonValue.Obj detail, String... regions) {
    return with(
        detail,
        "regions",
        JsonValue.object().putList("r", List.of(regions), JsonValue::of).build().get("r"));
  }
}
