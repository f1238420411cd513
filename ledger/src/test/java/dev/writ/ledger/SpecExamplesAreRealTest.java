package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.Packing;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.ledger.storage.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpecExamplesAreRealTest {
  @TempDir Path home;

  private static List<String> examples(String page, String kind) throws IOException {
    String text = Files.readString(Vectors.root().resolve("spec").resolve(page));
    Matcher fence = Pattern.compile("```" + kind + "\n(.*?\n)```", Pattern.DOTALL).matcher(text);
    List<String> examples = new ArrayList<>();
    while (fence.find()) {
      examples.add(fence.group(1));
    }
    assertThat(examples).as(page).isNotEmpty();
    return examples;
  }

  @Test
  void the_events_of_the_journal_page_chain() throws IOException {
    List<String> examples = examples("journal.md", "json event");
    Event first = Event.parse(Fixture.bytes(examples.get(0).strip()));
    Event second = Event.parse(Fixture.bytes(examples.get(1).strip()));
    assertThat(second)
        .isEqualTo(first.next(second.kind(), second.body(), second.at(), second.prngSeed()));
    assertThat(Files.readString(Vectors.root().resolve("spec/journal.md")))
        .contains("Its id is `" + first.id() + "`");
  }

  @Test
  void the_checkpoint_of_the_log_page_verifies() throws IOException {
    String page = Files.readString(Vectors.root().resolve("spec/log.md"));
    Matcher key = Pattern.compile("signed by the key `([^`]+)`").matcher(page);
    assertThat(key.find()).isTrue();
    Checkpoint.parse(Fixture.bytes(examples("log.md", "text checkpoint").getFirst()))
        .verify("writ.example/log", NoteKey.parse(key.group(1)));
  }

  @Test
  void the_cosigned_checkpoint_of_the_witness_page_verifies() throws IOException {
    String page = Files.readString(Vectors.root().resolve("spec/witness.md"));
    Matcher stated = Pattern.compile("cosigned at (\\S+) by the witness `([^`]+)`").matcher(page);
    assertThat(stated.find()).isTrue();
    Checkpoint checkpoint =
        Checkpoint.parse(Fixture.bytes(examples("witness.md", "text cosigned").getFirst()));
    assertThat(Cosignature.of(checkpoint, WitnessKey.parse(stated.group(2))).orElseThrow().at())
        .isEqualTo(stated.group(1));
  }

  @Test
  void the_anchor_of_the_log_page_is_that_of_a_new_ledger() throws IOException {
    Ledger.create(Fixture.config(home)).close();
    assertThat(Files.readString(Fixture.config(home).anchor()))
        .isEqualTo(examples("log.md", "json anchor").getFirst().strip());
  }

  @Test
  void the_storage_page_names_every_column_family() throws IOException {
    String page = Files.readString(Vectors.root().resolve("spec/storage.md"));
    for (Family family : Family.values()) {
      assertThat(page).contains("| `" + family.name().toLowerCase(Locale.ROOT) + "` |");
    }
  }

  @Test
  void the_storage_page_shows_how_a_text_is_packed() throws IOException {
    String page = Files.readString(Vectors.root().resolve("spec/storage.md"));
    Matcher example =
        Pattern.compile("`(\"[^`]+\")`, with its quotes, is packed as `([^`]+)`").matcher(page);
    assertThat(example.find()).isTrue();
    assertThat(Packing.pack(Fixture.bytes(example.group(1))))
        .isEqualTo(HexFormat.of().parseHex(example.group(2).replace(" ", "")));
  }
}
