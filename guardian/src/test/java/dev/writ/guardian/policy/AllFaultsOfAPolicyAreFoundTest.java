package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.yaml.FileFault;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A text has all of its faults told, each once, and none that only follows from another. */
class AllFaultsOfAPolicyAreFoundTest {
  private static final String GOOD =
      """
      writ_policy: 1
      name: demo
      version: 1
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 65536 }
      principals:
        - { tenant: acme, subject: ada, roles: [worker] }
        - { tenant: acme, subject: bo, roles: [worker, reader] }
      roles:
        worker:
          tools: [mail]
          sandboxes: [box]
          resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 }
        reader:
          tools: [mail]
          sandboxes: [box]
          resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 }
      tools:
        - { name: mail, version: 1.0.0, package: "sha256:%s" }
      budgets:
        - { name: calls, scope: tenant, unit: calls, limit: 10, window_s: 60 }
      requirements:
        - { effect: { tool: mail }, require: { all: [ { cel: 'true' }, { cel: 'has(params.to)' } ] } }
        - { effect: { tool: mail, operation: do }, require: { cel: 'true' } }
      approvers:
        - { tenant: acme, subject: rita, roles: [reviewer] }
      """
          .formatted("0".repeat(64));

  private static List<WritException> faults(String text) {
    return Policy.faults(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  private static List<String> told(String text) {
    return faults(text).stream()
        .map(fault -> fault.code().code() + " " + ((FileFault) fault).field())
        .toList();
  }

  private static String changed(String... fromAndTo) {
    String text = GOOD;
    for (int i = 0; i < fromAndTo.length; i += 2) {
      int at = text.indexOf(fromAndTo[i]);
      assertThat(at).as(fromAndTo[i]).isPositive();
      text = text.substring(0, at) + fromAndTo[i + 1] + text.substring(at + fromAndTo[i].length());
    }
    return text;
  }

  @Test
  void aPolicyHasNone() {
    assertThat(told(GOOD)).isEmpty();
  }

  @Test
  void aFileOfAnotherKindHasOneFault() {
    for (String other : List.of("writ_gateway: 1\nlisten: {}\n", "{\"keys\":[]}", "{}")) {
      assertThat(told(other)).containsExactly("GRD-503 /writ_policy");
    }
    assertThat(faults("writ_gateway: 1\n").getFirst().found())
        .endsWith("the file is a server's configuration; writ config check reads it");
    assertThat(told("name: demo\nwrit_gateway: 1\n")).hasSizeGreaterThan(1);
  }

  @Test
  void anUnknownKeyIsToldWithTheOneThatIsNear() {
    assertThat(faults(changed("budgets:", "bugdets:")).getFirst().found())
        .endsWith("field /bugdets: did you mean budgets?");
    assertThat(faults(changed("sandboxes: [box]", "sandboxes: [box]\n    sandboxs: 1")))
        .extracting(WritException::found)
        .anySatisfy(found -> assertThat(found).contains("did you mean sandboxes?"));
    assertThat(faults(changed("budgets:", "frobnicated:")).getFirst().found())
        .endsWith("field /frobnicated");
  }

  @Test
  void faultsOfSeveralEntriesAreToldTogether() {
    String text =
        changed(
            "version: 1\n", "version: one\n",
            "pending_max_s: 86400", "pending_max_s: 1",
            "cpu_ms: 1", "cpu_ms: soon",
            "subject: bo, ", "",
            "limit: 10", "limitt: 10",
            "cel: 'has(params.to)'", "cel: 'has('",
            "subject: rita", "subject: rita, rolez: []");
    assertThat(told(text))
        .containsExactlyInAnyOrder(
            "GRD-504 /version",
            "GRD-505 /limits/pending_max_s",
            "GRD-504 /roles/worker/resources/cpu_ms",
            "GRD-503 /principals/1/subject",
            "GRD-503 /budgets/0/limit",
            "GRD-502 /approvers/0/rolez",
            "GRD-509 /requirements/0/require/all/1/cel");
  }

  @Test
  void whatFollowsFromAFaultIsNoFaultOfItsOwn() {
    // Without the role that cannot be read, two principals would name one that is not defined.
    assertThat(told(changed("worker:\n    tools: [mail]", "worker:\n    tools: mail")))
        .containsExactly("GRD-504 /roles/worker/tools");
    assertThat(
            told(
                changed("require: { all: [ { cel: 'true' }", "require: { all: [ { cell: 'true' }")))
        .hasSize(1);
    assertThat(told(changed("limits: { request_age_max_s: 300", "limits: { request_age_max_s: x")))
        .containsExactly("GRD-504 /limits/request_age_max_s");
    assertThat(told(changed("roles:\n  worker", "roles: 1\nroless:\n  worker")))
        .containsExactly("GRD-504 /roles", "GRD-502 /roless");
  }

  @Test
  void namesThatAreDefinedNowhereAreAllTold() {
    String text =
        changed(
            "roles: [worker]",
            "roles: [wroker]",
            "roles: [worker, ",
            "roles: [wroker2, ",
            "effect: { tool: mail }",
            "effect: { tool: male }");
    assertThat(faults(text))
        .extracting(WritException::found)
        .anyMatch(found -> found.contains("wroker\""))
        .anyMatch(found -> found.contains("wroker2"))
        .anyMatch(found -> found.contains("male"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a: [", "[]", "1", "a: &x 1", "\u202E: 1", "writ_policy: 2\n"})
  void whatIsNoPolicyHasAFault(String text) {
    assertThat(faults(text)).isNotEmpty();
  }

  @Test
  void theyAreCountedAndALongTextIsReadAFewTimes() {
    StringBuilder many = new StringBuilder(GOOD);
    IntStream.range(0, 500).forEach(i -> many.append("unknown").append(i).append(": 1\n"));
    assertThat(faults(many.toString())).hasSize(50);
    String more = many + "#" + "a".repeat(900_000) + "\n";
    assertThat(faults(more)).hasSizeBetween(5, 10);
  }

  /** Places that have nothing to do with one another: each is told whichever others are damaged. */
  private static final String[][] DAMAGES = {
    {"version: 1\n", "version: one\n", "/version"},
    {"pending_max_s: 86400", "pending_max_s: no", "/limits/pending_max_s"},
    {"subject: ada", "subject: 1", "/principals/0/subject"},
    {"subject: bo", "subject: 2", "/principals/1/subject"},
    {"worker:\n    tools: [mail]", "worker:\n    tools: 1", "/roles/worker/tools"},
    {"reader:\n    tools: [mail]", "reader:\n    tools: 2", "/roles/reader/tools"},
    {"name: mail", "name: 3", "/tools/0/name"},
    {"unit: calls", "unit: cows", "/budgets/0/unit"},
    {"cel: 'has(params.to)'", "cel: 7", "/requirements/0/require/all/1/cel"},
    {"operation: do", "operation: 8", "/requirements/1/effect/operation"},
    {"subject: rita", "subject: 9", "/approvers/0/subject"}
  };

  @Test
  void whateverIsDamagedTogetherIsToldTogether() {
    long seed = Long.getLong("writ.seed", 20261127L);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < Integer.getInteger("writ.rounds", 100); round++) {
      List<String[]> damages = new ArrayList<>(List.of(DAMAGES));
      Collections.shuffle(damages, random);
      List<String[]> some = damages.subList(0, 1 + random.nextInt(damages.size()));
      String text =
          changed(some.stream().flatMap(d -> List.of(d[0], d[1]).stream()).toArray(String[]::new));
      TreeSet<String> places = new TreeSet<>(some.stream().map(d -> d[2]).toList());
      assertThat(told(text).stream().map(line -> line.substring(8)))
          .as(text)
          .containsExactlyInAnyOrderElementsOf(places);
    }
  }

  /**
   * There is one parser: what it accepts has no faults, and what it refuses first is told first.
   */
  @Test
  void itIsTheParsersWord() {
    Random random = new Random(Long.getLong("writ.seed", 20261127L));
    List<String> texts = new ArrayList<>(List.of(GOOD));
    texts.add(
        new String(
            Jcs.write(Policy.parse(GOOD.getBytes(StandardCharsets.UTF_8), "p").toJson()),
            StandardCharsets.UTF_8));
    for (int round = 0; round < Integer.getInteger("writ.rounds", 200); round++) {
      byte[] bad = texts.get(round % texts.size()).getBytes(StandardCharsets.UTF_8);
      for (int k = 0; k <= random.nextInt(6); k++) {
        bad[random.nextInt(bad.length)] = (byte) (32 + random.nextInt(95));
      }
      List<WritException> faults = Policy.faults(bad, "policy.yaml");
      try {
        Policy.parse(bad, "policy.yaml");
        assertThat(faults).isEmpty();
      } catch (WritException first) {
        assertThat(faults).isNotEmpty();
        assertThat(faults.getFirst()).hasMessage(first.getMessage());
      }
    }
  }
}
