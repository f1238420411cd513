package dev.writ.executor.reads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.document.ReadEvent.Person;
import dev.writ.executor.document.ReadEvent.Thing;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.Ledger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What policy asks for is stated, once a minute, before it is handed out. */
class ReadsAreStatedInTheLogTest {
  private static final String RECORDED =
      TestPolicy.YAML + "reads: [ { tenant: acme, what: [outputs, bundles] } ]\n";
  private static final Person OTTO = new Person(TestKeys.TENANT, "otto", "session");

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir, RECORDED);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private static ReadLog.Look look(Person by, List<Thing> things, ReadClass... what) {
    return new ReadLog.Look("credential of " + by.subject(), by, things, List.of(what));
  }

  private static Digest digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8));
  }

  private List<ReadEvent> stated() {
    return home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()).stream()
        .map(event -> {
          assertThat(event.kind()).isEqualTo(EventKind.CONTENT_READ);
          ReadEvent read = ReadEvent.read(home.document(event.body()).document());
          assertThat(read.readAt()).isEqualTo(event.at());
          return read;
        })
        .toList();
  }

  @Test
  void what_policy_names_is_stated_of_each_thing() {
    Thing output = Thing.of("run-1", digest("receipt"));
    home.kernel()
        .recordRead(
            look(
                OTTO,
                List.of(output, Thing.ofRun("run-2"), output),
                ReadClass.PARAMETERS,
                ReadClass.OUTPUTS));
    assertThat(stated()).extracting(ReadEvent::thing).containsExactly(output, Thing.ofRun("run-2"));
    assertThat(stated())
        .allSatisfy(read -> {
          assertThat(read.by()).isEqualTo(OTTO);
          assertThat(read.what()).containsExactly(ReadClass.OUTPUTS);
          assertThat(read.policy()).isEqualTo(home.policy().digest());
        });
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void what_policy_does_not_name_is_not_stated_and_asks_no_clock() {
    home.clock.back(Duration.ofDays(40));
    home.kernel().recordRead(look(OTTO, List.of(Thing.ofRun("run-1")), ReadClass.PARAMETERS));
    home.kernel()
        .recordRead(
            look(
                new Person(TestKeys.OTHER_TENANT, "eve", "session"),
                List.of(Thing.ofRun("run-1")),
                ReadClass.OUTPUTS));
    assertThat(stated()).isEmpty();
  }

  @Test
  void the_same_again_is_stated_after_a_minute() {
    ReadLog.Look look = look(OTTO, List.of(Thing.ofRun("run-1")), ReadClass.BUNDLES);
    home.kernel().recordRead(look);
    home.clock.forward(Duration.ofSeconds(59));
    home.kernel().recordRead(look);
    assertThat(stated()).hasSize(1);
    home.kernel().recordRead(look(OTTO, List.of(Thing.ofRun("run-1")), ReadClass.OUTPUTS));
    home.kernel().recordRead(look(OTTO, List.of(Thing.ofRun("run-2")), ReadClass.BUNDLES));
    home.kernel()
        .recordRead(
            look(
                new Person(TestKeys.TENANT, "ann", "mtls"),
                List.of(Thing.ofRun("run-1")),
                ReadClass.BUNDLES));
    assertThat(stated()).hasSize(4);
    home.clock.forward(Duration.ofSeconds(1));
    home.kernel().recordRead(look);
    assertThat(stated()).hasSize(5);
    home.restart();
    home.kernel().recordRead(look);
    assertThat(stated()).as("a new process remembers nothing").hasSize(6);
  }

  @Test
  void beyond_what_is_remembered_the_oldest_are_stated_again() {
    ReadLog few =
        new ReadLog((Ledger) home.ledger(), DocumentSigner.of(TestKeys.key("executor")), 2);
    for (String run : List.of("run-1", "run-2", "run-3", "run-3", "run-2", "run-1")) {
      few.state(
              look(OTTO, List.of(Thing.ofRun(run)), ReadClass.BUNDLES),
              home.policy(),
              home.kernel()::now)
          .ifPresent(ReadLog.Stated::await);
    }
    assertThat(stated())
        .extracting(read -> read.thing().run().orElseThrow())
        .containsExactly("run-1", "run-2", "run-3", "run-1");
  }

  @Test
  void a_read_that_did_not_reach_the_disk_is_refused_and_not_remembered() {
    ReadLog.Look look = look(OTTO, List.of(Thing.ofRun("run-1")), ReadClass.BUNDLES);
    home.beforeWrite(() -> {
      throw new IllegalStateException("the disk is full");
    });
    for (int i = 0; i < 2; i++) {
      assertThat(Refused.code(() -> home.kernel().recordRead(look))).startsWith("LED-");
    }
    home.beforeWrite(() -> {});
    home.restart();
    home.kernel().recordRead(look);
    assertThat(stated()).hasSize(1);
  }

  @Test
  void a_revoked_key_of_the_executor_states_nothing() {
    home.revoke("executor");
    home.clock.forward(Duration.ofMinutes(2));
    ReadLog.Look look = look(OTTO, List.of(Thing.ofRun("run-1")), ReadClass.BUNDLES);
    assertThat(Refused.code(() -> home.kernel().recordRead(look))).isEqualTo("EXE-912");
    assertThat(stated()).isEmpty();
  }

  // The document.

  private static JsonValue.Obj with(String member, JsonValue value) {
    TreeMap<String, JsonValue> members =
        new TreeMap<>(
            new ReadEvent(
                    OTTO,
                    Thing.of("run-1", digest("receipt")),
                    List.of(ReadClass.BUNDLES),
                    digest("policy"),
                    TestHome.START)
                .toJson()
                .members());
    if (value == null) {
      members.remove(member);
    } else {
      members.put(member, value);
    }
    return new JsonValue.Obj(members);
  }

  private static void refused(String code, JsonValue.Obj document) {
    assertThatThrownBy(() -> ReadEvent.read(document))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).isEqualTo(code));
  }

  private static JsonValue words(String... words) {
    return JsonValue.of(List.of(words).stream().<JsonValue>map(JsonValue::of).toList());
  }

  @Test
  void another_form_is_refused() {
    refused("CAN-023", with("what", words()));
    refused("CAN-023", with("what", words("outputs", "bundles")));
    refused("CAN-023", with("what", words("bundles", "bundles")));
    refused("CAN-023", with("what", words("policies")));
    refused("CAN-022", with("what", JsonValue.of(List.of(JsonValue.of(1)))));
    refused("CAN-021", with("why", JsonValue.of("because")));
    refused("CAN-020", with("method", null));
    TreeMap<String, JsonValue> neither = new TreeMap<>(with("id", null).members());
    neither.remove("run");
    refused("CAN-020", new JsonValue.Obj(neither));
    assertThat(ReadEvent.read(with("id", null)).thing()).isEqualTo(Thing.ofRun("run-1"));
    assertThat(ReadEvent.read(with("run", null)).thing()).isEqualTo(Thing.of(digest("receipt")));
    assertThat(ReadEvent.read(with("run", null)).thing().run()).isEqualTo(Optional.empty());
  }
}
