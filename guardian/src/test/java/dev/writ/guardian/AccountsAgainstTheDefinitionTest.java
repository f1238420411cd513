package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * The sums that accounts give, beside a plain list of all requests that is added up each time: any
 * order of judgements, settlements and releases, with entries folded as soon as they are durable.
 */
class AccountsAgainstTheDefinitionTest {
  private static final Policy POLICY =
      World.policy(
          World.POLICY.replace(
              "requirements:",
              "  - { name: cpu, scope: tenant, unit: cpu_ms, limit: 90000, window_s: 300 }\n"
                  + "temporal:\n  rates:\n"
                  + "    - { name: burst, scope: subject, limit: 12, per_s: 60 }\n"
                  + "requirements:"));

  /** What the list knows of a request. */
  private static final class Known {
    Instant at;
    boolean settled;
    boolean charged;
    long cpuMs;
    final List<Instant> allowed = new ArrayList<>();
  }

  private static final class Table implements Accounts.Stored {
    final TreeMap<String, byte[]> rows = new TreeMap<>();
    int looks;

    void put(Accounts.Row row) {
      rows.put(row.key(), row.value().orElseThrow());
    }

    @Override
    public Optional<byte[]> get(String key) {
      looks++;
      return Optional.ofNullable(rows.get(key));
    }

    @Override
    public void scan(Consumer<Accounts.Row> visitor) {
      rows.forEach((key, value) -> visitor.accept(new Accounts.Row(key, Optional.of(value))));
    }
  }

  private static Admitted admitted(int number, long cpuMs, Instant at) {
    World.RequestBuilder request = World.request().nonce("n" + number);
    request.resources = new Resources(cpuMs, 1, 1, 1);
    request.at = at;
    return new Admitted(
        World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER),
        request.request(),
        Digest.sha256(("r" + number).getBytes(StandardCharsets.UTF_8)),
        World.keys().getFirst(),
        List.of(World.SUBJECT),
        at);
  }

  @Test
  void every_sum_is_the_one_that_adding_up_gives() {
    long seed = Long.getLong("writ.seed", 20261124L);
    System.out.println("writ.seed=" + seed);
    for (int round = 0; round < 15; round++) {
      Random random = new Random(seed + round);
      Table table = new Table();
      Accounts accounts = Accounts.restore(table, 0, POLICY, World.NOW);
      TreeMap<Integer, Known> known = new TreeMap<>();
      Instant now = World.NOW;
      int denied = 0;
      for (int i = 0; i < 150; i++) {
        now = now.plusMillis(random.nextInt(20) == 0 ? 200_000 : random.nextInt(4_000));
        int number = random.nextInt(60);
        Admitted a = admitted(number, 1 + random.nextInt(9_000), now);
        List<Accounts.Row> rows;
        switch (random.nextInt(4)) {
          case 0 -> {
            rows = accounts.settle(a.id(), i);
            if (!rows.isEmpty()) {
              known.get(number).settled = true;
              known.get(number).cpuMs = i;
            }
          }
          case 1 -> {
            rows = random.nextBoolean() ? accounts.release(a.id()) : List.of();
            if (!rows.isEmpty()) {
              known.get(number).charged = false;
            }
          }
          default -> {
            Optional<Accounts.Judged> judged = judge(accounts, a, now);
            rows = judged.map(Accounts.Judged::rows).orElse(List.of());
            if (judged.isPresent()) {
              Known one = known.computeIfAbsent(number, _ -> new Known());
              one.charged = false; // what it had is given back first
              JudgeInputs inputs = JudgeInputs.read(judged.get().decision().inputs());
              requireSums("seed " + (seed + round) + ", step " + i, inputs, known, one, now);
              one.at = now;
              one.charged = judged.get().decision().verdict() == Verdict.ALLOW;
              one.cpuMs = a.request().effect().resources().cpuMs();
              if (one.charged) {
                one.allowed.add(now);
              } else {
                denied++;
              }
            }
          }
        }
        rows.forEach(table::put);
        if (!rows.isEmpty()) {
          accounts.durable(a.id());
        }
        if (random.nextInt(40) == 0) {
          accounts = Accounts.restore(table, 0, POLICY, now);
        }
      }
      assertThat(denied).isPositive();
    }
  }

  /** Only the newest stays whole: it holds the number of the step. */
  @Test
  void of_requests_that_are_over_a_nonce_and_the_times_in_rates_are_kept_and_nothing_else() {
    Table table = new Table();
    Accounts accounts = Accounts.restore(table, 0, POLICY, World.NOW);
    for (int i = 0; i < 3_000; i++) {
      Instant now = World.NOW.plusMillis(10L * i);
      Admitted a = admitted(i, 1, now);
      judge(accounts, a, now).orElseThrow().rows().forEach(table::put);
      accounts.settle(a.id(), 1).forEach(table::put);
      accounts.durable(a.id());
      assertThat(accounts.kept()).isEqualTo(1);
    }
    assertThat(accounts.keptBytes()).isLessThanOrEqualTo(3_000 * 100);
  }

  /** Most requests are new, and a look at the disk for each would be for nothing. */
  @Test
  void a_fresh_request_with_a_nonce_that_nobody_took_is_not_looked_for() {
    Table table = new Table();
    Accounts accounts = Accounts.restore(table, 0, POLICY, World.NOW);
    for (int i = 0; i < 100; i++) {
      Instant now = World.NOW.plusMillis(i);
      Admitted a = admitted(i, 1, now);
      accounts
          .judge(a, World.circumstances(), POLICY, World.trust(), now)
          .rows()
          .forEach(table::put);
      accounts.settle(a.id(), 1).forEach(table::put);
      accounts.durable(a.id());
    }
    assertThat(table.looks).isZero();
  }

  /** Even for a caller that knows of no earlier decision, and after a start. */
  @Test
  void one_that_was_judged_is_found_by_its_nonce_and_an_old_one_by_its_age() {
    Table table = new Table();
    Accounts accounts = Accounts.restore(table, 0, POLICY, World.NOW);
    List<Admitted> settled = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Admitted a = admitted(i, 1, World.NOW);
      settled.add(a);
      judge(accounts, a, World.NOW).orElseThrow().rows().forEach(table::put);
      accounts.settle(a.id(), 1).forEach(table::put);
      accounts.durable(a.id());
    }
    long ageMax = POLICY.limits().requestAgeMaxS();
    for (long after : List.of(0L, ageMax - 1, ageMax, ageMax + 61, ageMax + 62, ageMax + 65)) {
      Accounts again = Accounts.restore(table, 0, POLICY, World.NOW);
      assertThatExceptionOfType(WritException.class)
          .as("%d s later", after)
          .isThrownBy(() ->
              again.judge(
                  settled.getFirst(),
                  World.circumstances(),
                  POLICY,
                  World.trust(),
                  World.NOW.plusSeconds(after)))
          .extracting(WritException::code)
          .isEqualTo(GuardianError.REQUEST_SETTLED);
    }
  }

  private static Optional<Accounts.Judged> judge(Accounts accounts, Admitted a, Instant now) {
    try {
      return Optional.of(accounts.judge(a, World.judgedBefore(), POLICY, World.trust(), now));
    } catch (WritException e) {
      return Optional.empty(); // settled before
    }
  }

  private static void requireSums(
      String when, JudgeInputs inputs, TreeMap<Integer, Known> known, Known judged, Instant now) {
    for (JudgeInputs.Balance balance : inputs.balances()) {
      Budget budget = POLICY.budgets().get(balance.budget());
      boolean calls = budget.unit() == Budget.Unit.CALLS;
      long used = 0;
      long reserved = 0;
      for (Known one : known.values()) {
        if (one.charged && budget.windowStart(one.at).equals(budget.windowStart(now))) {
          used += one.settled ? calls ? 1 : one.cpuMs : 0;
          reserved += one.settled ? 0 : calls ? 1 : one.cpuMs;
        }
      }
      assertThat(balance.used()).as(when + ", used of " + balance.budget()).isEqualTo(used);
      assertThat(balance.reserved()).as(when + ", " + balance.budget()).isEqualTo(reserved);
    }
    for (JudgeInputs.RateCount count : inputs.rates()) {
      Rate rate = POLICY.rates().get(count.rate());
      long within =
          known.values().stream()
              .filter(one -> one != judged) // what it used before does not count against itself
              .flatMap(one -> one.allowed.stream())
              .filter(at -> at.isAfter(rate.spanStart(now)))
              .count();
      assertThat(count.count()).as(when + ", " + count.rate()).isEqualTo(within);
    }
  }
}
