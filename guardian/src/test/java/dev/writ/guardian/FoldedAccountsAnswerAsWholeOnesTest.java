package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Accounts that let go of old entries, and such that start from summaries, beside accounts that
 * keep all: every decision, every refusal and every row is the same, in any order of judgements,
 * settlements, releases, lost batches, changes of policy, lapses of windows, summaries and
 * restarts.
 */
class FoldedAccountsAnswerAsWholeOnesTest {
  private static final Envelope ANY =
      World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER);

  private static final String BUDGETS =
      "  - { name: cpu, scope: tenant, unit: cpu_ms, limit: LIMIT, window_s: WINDOW }\n"
          + "  - { name: short, scope: subject, unit: calls, limit: 6, window_s: 600 }\n"
          + "temporal:\n  rates:\n"
          + "    - { name: burst, scope: subject, limit: 3, per_s: 100 }\n"
          + "    - { name: slow, scope: tenant, limit: 30, per_s: SPAN }\nrequirements:";

  private static Policy policy(long limit, long window, long span, int age) {
    return World.policy(
        World.POLICY
            .replace(
                "requirements:",
                BUDGETS
                    .replace("LIMIT", String.valueOf(limit))
                    .replace("WINDOW", String.valueOf(window))
                    .replace("SPAN", String.valueOf(span)))
            .replace("request_age_max_s: 300", "request_age_max_s: " + age));
  }

  private static final List<Policy> POLICIES =
      List.of(
          policy(60_000, 3_600, 2_000, 300),
          policy(60_000, 14_400, 2_000, 300),
          policy(30_000, 900, 7_000, 300),
          policy(60_000, 3_600, 2_000, 1_000),
          // The same accounts under another policy.
          World.policy(
              World.POLICY
                  .replace(
                      "requirements:",
                      BUDGETS
                          .replace("LIMIT", "60000")
                          .replace("WINDOW", "3600")
                          .replace("SPAN", "2000"))
                  .replace("version: 3", "version: 4")));

  /** The table of the ledger. */
  private static final class Rows implements Accounts.Stored {
    final TreeMap<String, byte[]> table = new TreeMap<>();

    void store(List<Accounts.Row> rows) {
      for (Accounts.Row row : rows) {
        if (!row.key().startsWith(Accounts.ROW_PREFIX)) {
          continue; // a decision or a refusal, to be compared only
        }
        if (row.value().isPresent()) {
          table.put(row.key(), row.value().get());
        } else {
          table.remove(row.key());
        }
      }
    }

    @Override
    public Optional<byte[]> get(String key) {
      return Optional.ofNullable(table.get(key));
    }

    @Override
    public void scan(Consumer<Accounts.Row> visitor) {
      table.forEach((key, value) -> visitor.accept(new Accounts.Row(key, Optional.of(value))));
    }

    List<Accounts.Row> all() {
      return table.entrySet().stream()
          .map(row -> new Accounts.Row(row.getKey(), Optional.of(row.getValue())))
          .toList();
    }
  }

  /** The tables of summaries and the log, as a ledger has them. */
  private static final class Summaries {
    final List<Digest> log = new ArrayList<>();
    final List<AccountSummary> taken = new ArrayList<>();
    final List<NonceUses> nonces = new ArrayList<>();
    boolean replaces;
    boolean replacesNonces;
    int used;

    /**
     * False once all rows were read under other budgets than they were judged under: summaries go
     * on counting what a policy with longer windows still needs, where reading all rows at each
     * start forgets it when the policy of its row does.
     */
    boolean comparable = true;

    /**
     * @param lost whether it cannot be stored
     */
    void take(Accounts accounts, boolean lost) {
      Optional<AccountSummary.Taken> summary = accounts.summarize(log::size, 0);
      if (lost) {
        accounts.endSummaries();
        return;
      }
      summary.ifPresent(next -> {
        if (replaces) {
          taken.clear();
          replaces = false;
        }
        if (replacesNonces) {
          nonces.clear();
          replacesNonces = false;
        }
        nonces.removeIf(old -> accounts.areNoncesOver(old.newestMs()));
        taken.add(AccountSummary.read(next.summary().toBytes()));
        nonces.addAll(next.nonces());
      });
    }

    Accounts restore(Rows rows, Policy policy, Instant now, boolean repeat) {
      boolean holds =
          !taken.isEmpty()
              && taken.stream().map(AccountSummary::policy).allMatch(then -> areSame(then, policy));
      if (!holds) {
        replaces = !taken.isEmpty();
        replacesNonces = replaces;
        comparable &= taken.isEmpty();
        long step = taken.isEmpty() ? 0 : taken.getLast().step();
        return Accounts.restore(rows, step, policy, now);
      }
      used++;
      replaces = repeat;
      List<Digest> since = log.subList((int) taken.getLast().logSize(), log.size());
      return Accounts.restore(
          rows,
          new AccountSummary.Stored(taken, List.copyOf(nonces)::forEach, since),
          repeat,
          policy,
          now);
    }

    private static boolean areSame(Digest then, Policy policy) {
      return POLICIES.stream()
          .filter(known -> known.digest().equals(then))
          .anyMatch(known -> AccountSummary.areSumsEqual(known, policy));
    }
  }

  private static Admitted admitted(int number, int nonce, long cpuMs, Instant at) {
    World.RequestBuilder request = World.request().nonce("nonce-" + nonce);
    request.resources = new Resources(cpuMs, 1, 1, 1);
    request.at = at;
    return new Admitted(
        ANY,
        request.request(),
        Digest.sha256(("request " + number).getBytes(StandardCharsets.UTF_8)),
        World.keys().getFirst(),
        List.of(World.SUBJECT),
        at);
  }

  /** All kinds, led through one history; each has a table of its own. */
  private static final class Both {
    final Rows ofWhole = new Rows();
    final Rows ofFolded = new Rows();
    final Rows ofSummarized = new Rows();
    final Summaries summaries = new Summaries();
    Policy policy = POLICIES.getFirst();
    Accounts whole = Accounts.restore(List.of(), policy, World.NOW);
    Accounts folded = Accounts.restore(ofFolded, 0, policy, World.NOW);
    Accounts summarized = Accounts.restore(ofSummarized, 0, policy, World.NOW);
    int foldings;
    int collected;

    Instant now = World.NOW;

    /** The time of the last step whose rows are stored. */
    Instant durable = World.NOW;

    /** Whether the accounts hear that a batch is durable, or find out later. */
    boolean told;

    /**
     * @param committed whether the batch with the rows is
     * @return whether there were any
     */
    boolean same(String when, boolean committed, Function<Accounts, List<Accounts.Row>> step) {
      List<Accounts.Row> a = rows(whole, step);
      List<Accounts.Row> b = rows(folded, step);
      List<Accounts.Row> c = rows(summarized, step);
      assertThat(shown(b)).as(when).isEqualTo(shown(a));
      if (summaries.comparable) {
        assertThat(shown(c)).as(when + ", summarized").isEqualTo(shown(a));
      }
      if (committed) {
        ofWhole.store(a);
        ofFolded.store(b);
        ofSummarized.store(c);
        durable = c.isEmpty() ? durable : now;
        summaries.log.addAll(requests(c));
        if (told) {
          requests(b).forEach(folded::durable);
          requests(c).forEach(summarized::durable);
        }
      }
      foldings = Math.max(foldings, ofFolded.table.size() - folded.kept());
      return a.stream().anyMatch(row -> row.key().startsWith(Accounts.ROW_PREFIX));
    }

    private static List<Digest> requests(List<Accounts.Row> rows) {
      return rows.stream()
          .filter(row -> row.key().startsWith(Accounts.ROW_PREFIX))
          .map(row -> Digest.parse("sha256:" + row.key().substring(Accounts.ROW_PREFIX.length())))
          .toList();
    }

    /** The batch of the step before is lost. */
    void lost(String when, Admitted a) {
      same(
          when,
          false,
          accounts -> {
            accounts.forget(a.id());
            return List.of();
          });
    }

    private static List<Accounts.Row> rows(
        Accounts accounts, Function<Accounts, List<Accounts.Row>> step) {
      try {
        return step.apply(accounts);
      } catch (WritException e) {
        return List.of(
            new Accounts.Row(
                e.code().code(), Optional.of(e.found().getBytes(StandardCharsets.UTF_8))));
      }
    }

    private static List<String> shown(List<Accounts.Row> rows) {
      return rows.stream()
          .map(row ->
              row.key()
                  + " "
                  + row.value().map(v -> new String(v, StandardCharsets.UTF_8)).orElse("-"))
          .toList();
    }

    List<Accounts.Row> judged(Accounts accounts, Admitted a, Instant now) {
      Accounts.Judged judged = accounts.judge(a, World.judgedBefore(), policy, World.trust(), now);
      List<Accounts.Row> all = new ArrayList<>(judged.rows());
      all.add(new Accounts.Row("decision", Optional.of(Jcs.write(judged.decision().toJson()))));
      return all;
    }

    void judge(String when, Admitted a, Instant now, boolean committed) {
      boolean taken = same(when, committed, accounts -> judged(accounts, a, now));
      if (taken && !committed) {
        lost(when, a);
      }
    }

    /** Rows that are over go, as a server has them go while it runs. */
    void collect() {
      collect(folded, ofFolded);
      collect(summarized, ofSummarized);
    }

    private void collect(Accounts accounts, Rows rows) {
      accounts.deleteOver(
          rows.all().stream()
              .filter(row -> Accounts.isOver(row.value().orElseThrow(), durable))
              .toList(),
          deleted -> {
            rows.store(deleted);
            collected += deleted.size();
          });
    }

    void restart(Instant now, boolean repeat) {
      whole = Accounts.restore(ofWhole.all(), policy, now);
      folded = Accounts.restore(ofFolded, 0, policy, now);
      ofWhole.store(whole.expire(now));
      ofFolded.store(folded.expire(now));
      summarized = summaries.restore(ofSummarized, policy, now, repeat);
      ofSummarized.store(summarized.expire(now));
    }
  }

  private static long seed() {
    long seed = Long.getLong("writ.seed", 20261122L);
    System.out.println("writ.seed=" + seed);
    return seed;
  }

  @Test
  void anyHistoryIsAnsweredAlike() {
    long seed = seed();
    int folded = 0;
    int used = 0;
    int collected = 0;
    for (int round = 0; round < Integer.getInteger("writ.rounds", 100); round++) {
      Random random = new Random(seed + round);
      Both both = new Both();
      both.told = round % 3 != 0;
      Instant now = World.NOW;
      int numbers = 10 + random.nextInt(60);
      for (int i = 0; i < 120; i++) {
        now = now.plus(pause(random));
        String when = "seed " + (seed + round) + ", step " + i;
        step(random, both, numbers, now, when);
      }
      folded = Math.max(folded, both.foldings);
      used += both.summaries.used;
      collected += both.collected;
    }
    assertThat(used).as("starts from summaries").isGreaterThan(50);
    assertThat(collected).as("rows that were deleted at work").isGreaterThan(50);
    assertThat(folded).as("entries that were let go of").isGreaterThan(15);
  }

  private static Duration pause(Random random) {
    return switch (random.nextInt(12)) {
      case 0 -> Duration.ofSeconds(500 + random.nextInt(3_000));
      case 1 -> Duration.ofSeconds(random.nextInt(20_000));
      case 2, 3 -> Duration.ZERO;
      default -> Duration.ofMillis(random.nextInt(60_000));
    };
  }

  private static void step(Random random, Both both, int numbers, Instant now, String when) {
    int number = random.nextInt(numbers);
    int nonce = number % 5 == 0 ? number / 2 : number; // a request's own, some are another's, too
    Admitted a = admitted(number, nonce, 1 + random.nextInt(4_000), now);
    if (random.nextInt(5) == 0) {
      both.summaries.take(both.summarized, random.nextInt(12) == 0);
    }
    both.now = now;
    if (random.nextInt(9) == 0) {
      both.collect();
    }
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4 -> {
        int cpuMs = random.nextInt(3_000);
        both.same(when, true, accounts -> accounts.settle(a.id(), cpuMs));
      }
      case 5 -> both.same(when, true, accounts -> accounts.release(a.id()));
      case 6 -> {
        if (both.same(when, false, accounts -> accounts.settle(a.id(), 7))) {
          both.lost(when, a);
        }
      }
      case 7 -> both.restart(now, random.nextInt(3) == 0);
      case 8 -> {
        both.policy = POLICIES.get(random.nextInt(POLICIES.size()));
        both.judge(when, a, now, true);
      }
      case 9 -> both.judge(when, a, now, false);
      case 10 -> both.judge(when, a, now.minusMillis(random.nextInt(59_000)), true);
      default -> both.judge(when, a, now, true);
    }
    both.same(
        when + ", looked at",
        false,
        accounts ->
            List.of(
                new Accounts.Row(
                    accounts
                        .look(
                            admitted(5_000, nonce, 1, now),
                            World.circumstances(),
                            both.policy,
                            World.trust(),
                            now)
                        .toString(),
                    Optional.empty())));
  }

  /** Found by the simulation: two decisions had one step after a crash. */
  @Test
  void theNewestStoredRowIsNotDeletedBeforeANewerOneIsStored() {
    Policy policy = POLICIES.getFirst();
    Rows rows = new Rows();
    Accounts accounts = Accounts.restore(rows, 0, policy, World.NOW);
    rows.store(judged(accounts, policy, "first", World.NOW).rows());
    accounts.durable(request("first", World.NOW).id());
    Instant later = World.NOW.plusSeconds(3 * 86_400);
    List<Accounts.Row> under = judged(accounts, policy, "second", later).rows();
    assertThat(rows.all()).hasSize(1).allMatch(row -> Accounts.isOver(row.value().get(), later));
    accounts.deleteOver(rows.all(), rows::store);
    // The second row is not stored: a crash comes before it.
    Accounts restarted = Accounts.restore(rows, 0, policy, later);
    assertThat(
            JudgeInputs.read(judged(restarted, policy, "third", later).decision().inputs()).step())
        .as("a step of its own, behind the first")
        .isEqualTo(2);
    rows.store(under);
    accounts.durable(request("second", later).id());
    accounts.deleteOver(rows.all(), rows::store);
    assertThat(rows.all()).as("now the second holds the number").hasSize(1);
  }

  private static Admitted request(String nonce, Instant at) {
    World.RequestBuilder request = World.request().nonce(nonce);
    request.at = at;
    return new Admitted(
        World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER),
        request.request(),
        Digest.sha256(nonce.getBytes(StandardCharsets.UTF_8)),
        World.keys().getFirst(),
        List.of(World.SUBJECT),
        at);
  }

  private static Accounts.Judged judged(Accounts in, Policy policy, String nonce, Instant now) {
    return in.judge(request(nonce, now), World.circumstances(), policy, World.trust(), now);
  }
}
