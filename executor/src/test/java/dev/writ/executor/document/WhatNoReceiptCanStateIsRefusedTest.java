package dev.writ.executor.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.Artifact;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.executor.driver.DriverOutcome.Output;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A driver names artifacts as a tool does, which may be hostile, and a statement of deletion may be
 * a forger's: what has not its form is refused before anything is written or believed.
 */
class WhatNoReceiptCanStateIsRefusedTest {
  private static final String JSON = "application/json";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a\u0000b",
        "a\nb",
        "a\u001b[2J",
        "a\u007f",
        "\ud800",
        "a\udfff",
        "\udc00\ud800"
      })
  void a_name_that_is_none(String name) {
    assertThatThrownBy(() -> new Artifact(name, new byte[0], JSON))
        .isInstanceOf(IllegalArgumentException.class)
        .as("it is not repeated in the message")
        .hasMessage("name of " + name.length() + " characters");
    assertThatThrownBy(() -> new Output(new byte[0], name))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> DriverOutcome.failed(DriverOutcome.End.FAILED, name, "", Metrics.NONE))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_name_may_have_256_characters_and_any_whole_ones() {
    for (String name : List.of("n".repeat(256), "\ud83d\ude00", "a b", "\ue000", "é")) {
      assertThat(new Artifact(name, new byte[0], JSON).name()).isEqualTo(name);
    }
    assertThatThrownBy(() -> new Artifact("n".repeat(257), new byte[0], JSON))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_measurement_that_json_cannot_hold() {
    long most = JsonValue.Num.MAX_INTEGER;
    assertThat(new Metrics(most, 0, most, 0).cpuMs()).isEqualTo(most);
    assertThatThrownBy(() -> new Metrics(-1, 0, 0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Metrics(0, 0, 0, most + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Deletion deletion(List<Deletion.Item> contents) {
    return new Deletion(
        new RunId("acme", "run-1"),
        new Deletion.Rule(digest(0), "logs"),
        contents,
        Instant.ofEpochSecond(1));
  }

  private static Digest digest(int i) {
    return Digest.sha256(new byte[] {(byte) i});
  }

  private static Deletion.Item item(long seq) {
    return new Deletion.Item(ContentClass.OUTPUTS, digest(1), seq, 10);
  }

  private static List<Deletion.Item> items(long count) {
    return LongStream.range(0, count).mapToObj(WhatNoReceiptCanStateIsRefusedTest::item).toList();
  }

  private static void refused(List<Deletion.Item> contents) {
    JsonValue.Obj document = deletion(contents).toJson();
    assertThatThrownBy(() -> Deletion.read(document))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).isEqualTo("CAN-023"));
  }

  @Test
  void a_statement_about_nothing_too_much_or_the_same_twice() {
    Deletion most = deletion(items(Deletion.CONTENTS_MAX));
    assertThat(Deletion.read(most.toJson())).isEqualTo(most);
    refused(List.of());
    refused(items(Deletion.CONTENTS_MAX + 1));
    refused(List.of(item(3), item(3)));
    refused(List.of(item(3), item(2)));
    List<Deletion.Item> late = new ArrayList<>(items(20));
    late.add(item(4));
    refused(late);
  }
}
