package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a principal may use is counted and priced, in policies that are large, too. */
class CallsAreCountedByBudgetsTest {
  private static final String ROLE =
      "\"sandboxes\":[\"box\"],"
          + "\"resources\":{\"cpu_ms\":1,\"memory_bytes\":1,\"output_bytes\":1,\"wall_ms\":1}";

  /** One budget, as the test chose it; empty text stands for anything. */
  private record Chosen(String name, String unit, String subject, String role, String tool) {
    String json() {
      List<String> match = new ArrayList<>();
      if (!subject.isEmpty()) {
        match.add("\"subject\":\"" + subject + "\"");
      }
      if (!role.isEmpty()) {
        match.add("\"role\":\"" + role + "\"");
      }
      if (!tool.isEmpty()) {
        match.add("\"tool\":\"" + tool + "\"");
      }
      return "{\"name\":\""
          + name
          + "\",\"scope\":\"tenant\",\"unit\":\""
          + unit
          + "\",\"limit\":1,\"window_s\":60,\"match\":{"
          + String.join(",", match)
          + "}}";
    }

    boolean counts(String aSubject, List<String> roles, String aTool) {
      return (subject.isEmpty() || subject.equals(aSubject))
          && (role.isEmpty() || roles.contains(role))
          && (tool.isEmpty() || tool.equals(aTool));
    }
  }

  private static String policy(
      TreeMap<String, List<String>> roles,
      TreeMap<String, List<String>> subjects,
      List<Chosen> budgets,
      List<String> prices) {
    return "{\"writ_policy\":1,\"name\":\"demo\",\"version\":1,\"limits\":{\"request_age_max_s\":300,"
               + "\"pending_max_s\":86400,\"request_bytes_max\":65536},\"principals\":["
        + subjects.entrySet().stream()
            .map(s ->
                "{\"tenant\":\"acme\",\"subject\":\""
                    + s.getKey()
                    + "\",\"roles\":"
                    + texts(s.getValue())
                    + "}")
            .collect(Collectors.joining(","))
        + "],\"roles\":{"
        + roles.entrySet().stream()
            .map(r -> "\"" + r.getKey() + "\":{\"tools\":" + texts(r.getValue()) + "," + ROLE + "}")
            .collect(Collectors.joining(","))
        + "},\"budgets\":["
        + budgets.stream().map(Chosen::json).collect(Collectors.joining(","))
        + "],\"prices\":{"
        + prices.stream().map(p -> "\"" + p + "\":1").collect(Collectors.joining(","))
        + "},\"requirements\":[],\"governance\":{\"tools\":[\"t*\"],"
        + "\"approvals\":{\"looks\":1},\"approvers\":{\"ada\":[\"looks\"]}}}";
  }

  private static String texts(List<String> all) {
    return all.stream().map(t -> "\"" + t + "\"").collect(Collectors.joining(",", "[", "]"));
  }

  private static List<String> found(String policy) {
    return Policy.faults(policy.getBytes(StandardCharsets.UTF_8), "p").stream()
        .map(WritException::found)
        .toList();
  }

  @Test
  void aFaultIsToldExactlyWhereSomethingIsUncountedOrUnpriced() {
    Random random = new Random(8);
    int sound = 0;
    for (int i = 0; i < 300; i++) {
      List<String> tools =
          IntStream.range(0, 1 + random.nextInt(200)).mapToObj(t -> "t" + t).toList();
      TreeMap<String, List<String>> roles = new TreeMap<>();
      for (int r = 0; r < 4; r++) {
        int share = 1 + random.nextInt(40);
        List<String> some = new ArrayList<>();
        tools.forEach(t -> {
          if (random.nextInt(share) == 0) {
            some.add(random.nextInt(4) == 0 ? t + "/do" : t);
          }
        });
        roles.put("r" + r, some);
      }
      TreeMap<String, List<String>> subjects = new TreeMap<>();
      for (int s = 0; s < 3; s++) {
        subjects.put("s" + s, roles.keySet().stream().filter(_ -> random.nextInt(3) == 0).toList());
      }
      List<Chosen> budgets = new ArrayList<>();
      for (int b = 0; b < random.nextInt(60); b++) {
        budgets.add(
            new Chosen(
                "b" + (100 + b),
                List.of("calls", "calls", "cost", "cpu_ms").get(random.nextInt(4)),
                random.nextInt(3) == 0 ? "s" + random.nextInt(4) : "",
                random.nextInt(3) == 0 ? "r" + random.nextInt(4) : "",
                random.nextInt(20) == 0 ? "" : tools.get(random.nextInt(tools.size()))));
      }
      List<String> prices = tools.stream().filter(_ -> random.nextInt(5) > 0).toList();

      List<String> expected = expected(roles, subjects, budgets, prices);
      List<String> found = found(policy(roles, subjects, budgets, prices));
      sound += expected.isEmpty() ? 1 : 0;
      assertThat(found).hasSize(Math.min(50, expected.size()));
      for (int f = 0; f < found.size(); f++) {
        assertThat(found.get(f)).contains(expected.get(f));
      }
    }
    assertThat(sound).isBetween(5, 295);
  }

  private static List<String> expected(
      TreeMap<String, List<String>> roles,
      TreeMap<String, List<String>> subjects,
      List<Chosen> budgets,
      List<String> prices) {
    List<String> faults = new ArrayList<>();
    subjects.forEach((subject, held) -> {
      TreeSet<String> usable = new TreeSet<>();
      held.forEach(role -> roles.get(role).forEach(t -> usable.add(t.split("/", 2)[0])));
      for (String tool : usable) {
        if (!prices.contains(tool) && isCounted("cost", subject, held, tool, budgets)) {
          faults.add("counts the cost of \"" + tool + "\", which has none in prices");
        }
        if (!isCounted("calls", subject, held, tool, budgets)) {
          faults.add("no budget in calls covers \"" + tool + "\" for acme/" + subject);
        }
      }
    });
    return faults;
  }

  private static boolean isCounted(
      String unit, String subject, List<String> held, String tool, List<Chosen> budgets) {
    return budgets.stream().anyMatch(b -> b.unit().equals(unit) && b.counts(subject, held, tool));
  }

  /**
   * Two hundred million pairs of a principal and a tool that no budget counts: to look at each, or
   * to keep a fault of each, would end neither soon nor within memory.
   */
  @Test
  void aPolicyThatIsMadeToTakeLongDoesNot() {
    TreeMap<String, List<String>> roles = new TreeMap<>();
    roles.put("r", IntStream.range(0, 50_000).mapToObj(t -> "t" + t).toList());
    TreeMap<String, List<String>> subjects = new TreeMap<>();
    IntStream.range(0, 4_000).forEach(s -> subjects.put("s" + s, List.of("r")));
    List<String> prices = List.of();

    assertThat(found(policy(roles, subjects, List.of(), prices))).hasSize(50);
    Chosen all = new Chosen("all", "calls", "", "", "");
    assertThat(found(policy(roles, subjects, List.of(all), prices))).isEmpty();
    Chosen costs = new Chosen("costs", "cost", "", "", "t49999");
    assertThat(found(policy(roles, subjects, List.of(all, costs), prices)))
        .hasSize(50)
        .allMatch(found -> found.contains("counts the cost of \"t49999\""));
  }
}
