package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Clients that have effects done by any gateway while these are struck, keep what was acknowledged,
 * and send what was not again.
 */
final class Workload {
  private static final int CLIENTS = 4;

  /** What was acknowledged, and the receipt that was. */
  private record Acknowledged(Agent.Asked asked, String receipt, String status) {}

  private final Agent agent;
  private final List<URI> gateways;
  private final Supplier<String> largeSource;
  private final ConcurrentLinkedQueue<Acknowledged> acknowledged = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<String> found = new ConcurrentLinkedQueue<>();
  private final List<Thread> clients = new ArrayList<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger tries = new AtomicInteger();
  private AtomicInteger left = new AtomicInteger();
  private volatile String runs = "run-";
  private int compared;

  /**
   * @param largeSource a script now and then, whose output may be large
   */
  Workload(Agent agent, List<URI> gateways, Supplier<String> largeSource) {
    this.agent = agent;
    this.gateways = List.copyOf(gateways);
    this.largeSource = largeSource;
  }

  /**
   * In which runs it works from the next beginning on: those of this name with 0 and 1 behind it.
   */
  void goOnIn(String beginning) {
    runs = beginning;
  }

  /** How often something was sent that got no answer, or one that does not stay. */
  int tries() {
    return tries.get();
  }

  /** Begins so many effects for each client, at least. */
  void begin(int each, long seed) {
    over.set(false);
    AtomicInteger counted = new AtomicInteger(CLIENTS * each);
    left = counted;
    for (int i = 0; i < CLIENTS; i++) {
      Random random = new Random(seed + i);
      clients.add(Thread.ofVirtual().start(() -> work(random, counted)));
    }
  }

  /** Whether no more than so many of what was begun are left, or something is wrong. */
  boolean hasLeft(int most) {
    return left.get() <= most || !found.isEmpty();
  }

  /** Ends all clients. */
  void end() throws InterruptedException {
    over.set(true);
    for (Thread client : clients) {
      client.join();
    }
    clients.clear();
  }

  private void work(Random random, AtomicInteger counted) {
    while (!over.get() && counted.get() > 0 && found.isEmpty()) {
      String run = runs + random.nextInt(2);
      Agent.Asked asked =
          random.nextInt(3) == 0 ? agent.js(run, largeSource.get()) : agent.outside(run);
      answered(asked, random).ifPresent(acknowledged::add);
      counted.decrementAndGet();
    }
  }

  /** Sends it to any gateway until one has an answer that stays. */
  private Optional<Acknowledged> answered(Agent.Asked asked, Random random) {
    for (int attempt = 0; attempt < 400; attempt++) {
      try {
        Agent.Answered answer = agent.send(gateways.get(random.nextInt(gateways.size())), asked);
        if (answer.status() == 200) {
          return Optional.of(
              new Acknowledged(asked, answer.text("receipt_id"), answer.receiptStatus()));
        }
        // EXE-109: it was dispatched, and becomes in doubt when the next owner begins.
        if (answer.status() != 503 && !answer.text("code").equals("EXE-109")) {
          found.add(asked.effect() + ": " + answer.status() + " " + answer.text("code"));
          return Optional.empty();
        }
        tries.incrementAndGet();
        Thread.sleep(20);
      } catch (IOException e) {
        tries.incrementAndGet(); // the gateway is gone or stands still: another one has it
      } catch (InterruptedException e) {
        return Optional.empty();
      }
    }
    found.add("no answer to " + asked.effect());
    return Optional.empty();
  }

  int acknowledged() {
    return acknowledged.size();
  }

  int inDoubt() {
    return (int) acknowledged.stream().filter(a -> a.status().equals("in_doubt")).count();
  }

  /** What was answered as it must not be. */
  List<String> found() {
    return List.copyOf(found);
  }

  /** No acknowledged receipt is lost, and no effect outside happened twice. */
  void compare(CountingServer outside) throws IOException {
    compare(List.copyOf(acknowledged), outside);
  }

  /** The same for what was acknowledged since this was last called. */
  void compareNew(CountingServer outside) throws IOException {
    List<Acknowledged> all = List.copyOf(acknowledged);
    compare(all.subList(compared, all.size()), outside);
    compared = all.size();
  }

  private void compare(List<Acknowledged> those, CountingServer outside) throws IOException {
    for (Acknowledged each : those) {
      Agent.Answered again = agent.send(gateways.getFirst(), each.asked());
      assertThat(again.text("receipt_id")).as(again.toString()).isEqualTo(each.receipt());
      if (!each.asked().effect().isEmpty()) {
        int times = outside.times(each.asked().effect());
        if (each.status().equals("succeeded")) {
          assertThat(times).as(each.asked().effect()).isEqualTo(1);
        } else {
          assertThat(times).as(each.asked().effect() + " " + each.status()).isBetween(0, 1);
        }
      }
    }
    for (Map.Entry<String, Integer> each : outside.all().entrySet()) {
      assertThat(each.getValue()).as(each.getKey()).isEqualTo(1);
    }
  }
}
