package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Placements;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.TenantMove;
import dev.writ.fixture.Refused;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.guardian.document.AccessDocument;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which cell a request goes to, whatever its sender makes of it. */
class ARequestFindsItsCellTest {
  private static final int CELLS = 8;
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");
  private static final SigningKey KEY = SigningKey.generateEd25519(new SecureRandom());
  private static final Client NOBODY = new Client("192.0.2.7", List.of(), new Client.LetIn());

  private final CellChoice choice =
      new CellChoice(
          CELLS,
          "local",
          Optional.of("eu-1"),
          new Tokens(
              List.of(
                  new Tokens.Entry(
                      "ci", Tokens.digest("writ_x"), "t2", "ci", List.of(), Optional.empty()))),
          new Certificates(List.of()));

  /** Golden: the placement of what exists must not change. */
  @Test
  void tenantsStayWhereTheyAre() {
    List<Integer> cells = new ArrayList<>();
    for (String tenant : List.of("local", "t1", "t2", "t3", "t4", "t5", "t6")) {
      assertThat(CellPlacement.cellOf(tenant, 1)).isZero();
      assertThat(CellPlacement.cellOf(tenant, 2)).isEqualTo(1);
      cells.add(CellPlacement.cellOf(tenant, CELLS));
    }
    assertThat(cells).containsExactly(2, 1, 3, 1, 5, 7, 4);
  }

  private OptionalInt of(String method, String path, String... headers) {
    List<Map.Entry<String, String>> pairs = new ArrayList<>();
    for (int i = 0; i < headers.length; i += 2) {
      pairs.add(Map.entry(headers[i], headers[i + 1]));
    }
    return choice.of(method, path, Headers.of(pairs), NOBODY, NOW);
  }

  private static String access(String tenant) {
    return AccessDocument.header(
        Envelope.sign(
            AccessDocument.TYPE,
            new AccessDocument(tenant, "writ-x", NOW, NOW.plusSeconds(60)).toJson(),
            KEY));
  }

  @Test
  void aCredentialSaysWhoseRequestItIs() {
    assertThat(of("GET", "/v1/runs", "authorization", "Bearer writ_x")).hasValue(3);
    assertThat(of("GET", "/v1/runs", "authorization", access("t5"))).hasValue(7);
    assertThat(of("POST", "/v1/effects", "authorization", access("t4"))).hasValue(5);
    assertThat(of("GET", "/v1/runs", "cookie", "a=b; writ-session=4.abc-_x")).hasValue(4);
    assertThat(of("GET", "/v1/runs", "cookie", "__Host-writ-session=6.abc")).hasValue(6);
    assertThat(of("POST", "/console/session", "authorization", "Writ-Code 5.abc_")).hasValue(5);
    assertThat(of("GET", "/v1/keys", "writ-cell", "7", "authorization", "Bearer writ_x"))
        .hasValue(7);
  }

  @Test
  void statementsOnTheInstallationGoToItsSystemCell() {
    assertThat(of("POST", "/v1/policies")).hasValue(0);
    assertThat(of("POST", "/v1/system-changes", "authorization", access("t5"))).hasValue(0);
    assertThat(of("GET", "/v1/policies", "authorization", access("t5"))).hasValue(7);
  }

  /** Whoever answers there refuses it with a reason. */
  @Test
  void whatNamesNobodyGoesToTheCellOfTheHome() {
    assertThat(of("GET", "/")).hasValue(2);
    for (String wrong :
        List.of("Bearer other", "Bearer", "Writ !!", "Writ e30", "Writ-Code x", "Basic x", "")) {
      assertThat(of("POST", "/v1/effects", "authorization", wrong)).as(wrong).hasValue(2);
    }
    for (String wrong : List.of("8", "-1", "x", "99999999999", "")) {
      assertThat(of("GET", "/v1/keys", "writ-cell", wrong)).as(wrong).hasValue(2);
    }
    assertThat(of("GET", "/v1/runs", "cookie", "writ-session=99.abc")).hasValue(2);
    assertThat(of("GET", "/v1/runs", "cookie", "xwrit-session=4.abc")).hasValue(2);
    for (String body : List.of("", "{}", "[]", "{\"payload\":1}", "{\"request\":{}}", "\u0000")) {
      assertThat(choice.ofBody(body.getBytes(StandardCharsets.UTF_8))).as(body).isEqualTo(2);
    }
  }

  @Test
  void aSignedDocumentSaysWhoseItIsWhereNoCredentialDoes() {
    for (String path :
        List.of("effects", "decisions", "executions", "approvals", "resolutions", "runs/r/close")) {
      assertThat(of("POST", "/v1/" + path)).as(path).isEmpty();
    }
    assertThat(of("GET", "/v1/effects")).hasValue(2);
    JsonValue.Obj scoped =
        JsonValue.object()
            .put("scope", JsonValue.object().put("tenant", "t6").build())
            .put("tenant", "t1")
            .build();
    Envelope request = Envelope.sign("application/x", scoped, KEY);
    assertThat(choice.ofBody(request.toBytes())).isEqualTo(4);
    byte[] submission =
        Jcs.write(JsonValue.object().put("request", Jcs.parse(request.toBytes())).build());
    assertThat(choice.ofBody(submission)).isEqualTo(4);
    Envelope close =
        Envelope.sign("application/x", JsonValue.object().put("tenant", "t2").build(), KEY);
    assertThat(choice.ofBody(close.toBytes())).isEqualTo(3);
  }

  @Test
  void aPlacedTenantIsWhereAnOperatorPutIt() {
    choice.placed(
        new Placements(
            new TreeMap<>(Map.of("t2", 6, "local", 5)),
            new TreeMap<>(),
            new TreeSet<>(),
            new TreeMap<>()));
    assertThat(of("GET", "/v1/runs", "authorization", "Bearer writ_x")).hasValue(6);
    assertThat(of("GET", "/v1/runs", "authorization", access("t5"))).as("as before").hasValue(7);
    assertThat(of("GET", "/console")).as("the home's tenant").hasValue(5);
  }

  @Test
  void aMovedTenantIsWhereItWentLast() {
    Digest statement = Digest.sha256();
    TreeMap<String, List<Placements.Moved>> moves = new TreeMap<>();
    moves.put(
        "t2",
        List.of(
            new Placements.Moved(statement, new TenantMove("t2", 4, 6)),
            new Placements.Moved(statement, new TenantMove("t2", 2, 4))));
    choice.placed(
        new Placements(new TreeMap<>(Map.of("t2", 6)), new TreeMap<>(), new TreeSet<>(), moves));
    assertThat(of("GET", "/v1/runs", "authorization", "Bearer writ_x")).hasValue(2);
    assertThat(of("GET", "/v1/runs", "authorization", "Bearer writ_x", "writ-cell", "6"))
        .as("what it did before is read where it was")
        .hasValue(6);
  }

  @Test
  void requestsForACellThatRefusesOtherRegionsDoNotPass() {
    TreeMap<Integer, CellRegions> cells = new TreeMap<>();
    cells.put(1, new CellRegions(1, List.of("us-1"), CellRegions.FromElsewhere.REFUSE));
    cells.put(2, new CellRegions(2, List.of("us-1"), CellRegions.FromElsewhere.FORWARD));
    cells.put(3, new CellRegions(3, List.of("us-1", "eu-1"), CellRegions.FromElsewhere.REFUSE));
    choice.placed(new Placements(new TreeMap<>(), cells, new TreeSet<>(), new TreeMap<>()));
    assertThat(Refused.code(() -> choice.requireHere(1))).isEqualTo("GWY-197");
    choice.requireHere(2);
    choice.requireHere(3);
    choice.requireHere(4);
  }
}
