package dev.writ.ledger.witness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedNote;
import dev.writ.ledger.note.WitnessKey;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Notes, keys and a conversation that other implementations made and take: the example of C2SP
 * signed-note (C2SP/C2SP 5ba5ee8), a checkpoint of Go's checksum database and keys of witnesses
 * (transparency-dev/formats 0b850f1), and what litewitness is asked and answers
 * (FiloSottile/torchwood 341dc2f, cmd/litewitness/testdata).
 */
class WhatOthersSignedAndAnsweredTest {
  private static final Instant NOW = Instant.parse("2026-11-29T12:00:00Z");
  private static final String ORIGIN =
      "sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562";
  private static final String LOG_KEY =
      "ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f";
  private static final String WITNESS_SECRET =
      "31ffc2116ecbe003acaa800ab70757bd7d53206e3febef6a6d0796d95530b34f";

  private static final String SIZE_1 =
      checkpoint(
          ORIGIN,
          "1",
          "KgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
          "UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=");
  private static final String ROOT_3 = "RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=";
  private static final String SIGNED_3 =
      "UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=";
  private static final String SIZE_3 = checkpoint(ORIGIN, "3", ROOT_3, SIGNED_3);
  private static final String SIZE_5 =
      checkpoint(
          ORIGIN,
          "5",
          "QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=",
          "UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=");
  private static final String LEAF_1 = "KgEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
  private static final String LEAF_2 = "KgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
  private static final String LEAF_3 = "KgMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
  private static final String LEAF_4 = "KgQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";

  @TempDir Path dir;

  private static String checkpoint(String origin, String size, String root, String signature) {
    return origin + "\n" + size + "\n" + root + "\n\n\u2014 " + origin + " " + signature + "\n";
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void theNoteOfTheSpecificationHolds() {
    NoteKey key =
        NoteKey.parse("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k");
    String note =
        """
        This is an example message.

        \u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
        """;
    SignedNote.parse(bytes(note)).verify(key);
    SignedNote changed = SignedNote.parse(bytes(note.replace("This", "That")));
    assertThatThrownBy(() -> changed.verify(key)).hasMessageStartingWith("LED-05");
  }

  @Test
  void aCheckpointOfGosChecksumDatabaseHolds() {
    NoteKey key =
        NoteKey.parse("sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8");
    String note =
        """
        go.sum database tree
        6476701
        mb8QLQIs0Z0yP5Cstq6guj87oXWeC9gEM8oVikmm9Wk=

        \u2014 sum.golang.org Az3grsLX85Gz+s1SiTbgkuqxgItqFq7gsMUEyVnrsa9LM7Us9S+1xbFIGu95949rj4nPRYfvimWEPWL+o3GeoWwOoAw=
        """;
    Checkpoint checkpoint = Checkpoint.parse(bytes(note));
    checkpoint.verify("go.sum database tree", key);
    assertThat(checkpoint.size()).isEqualTo(6_476_701);
    Checkpoint longer = Checkpoint.parse(bytes(note.replace("6476701", "6476702")));
    assertThatThrownBy(() -> longer.verify("go.sum database tree", key))
        .hasMessageStartingWith("LED-05");
  }

  @Test
  void aWitnesssKeyIsReadAndWritten() {
    String key = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2";
    assertThat(WitnessKey.parse(key)).hasToString(key);
    assertThatThrownBy(() -> WitnessKey.parse(key.replace("da77", "da78")))
        .hasMessageStartingWith("LED-055");
  }

  /** In its order, with the status that the specification of today has for each. */
  @Test
  void theConversationWithAnotherWitnessGoesThisWayHere() {
    NoteKey log = new NoteKey(ORIGIN, VerifyingKey.ed25519(HexFormat.of().parseHex(LOG_KEY)));
    SigningKey key = SigningKey.ed25519(HexFormat.of().parseHex(WITNESS_SECRET));
    try (Witness witness =
        Witness.of(WitnessStore.open(dir, Disk.REAL), "example.com/witness", key, List.of(log))) {
      cosigned(witness, "old 0\n\n", SIZE_1);
      String forged = SIZE_3.replace("6go=", "6gx=");
      assertThat(status(witness, "old 1\n" + LEAF_1 + LEAF_2 + "\n" + forged)).isEqualTo(400);
      String wrong = SIZE_3.replace("6go=", "6wo=");
      assertThat(status(witness, "old 1\n" + LEAF_1 + LEAF_2 + "\n" + wrong)).isEqualTo(403);
      String unknown = SIZE_3.replace("09e562", "09e563");
      assertThat(status(witness, "old 1\n" + LEAF_1 + LEAF_2 + "\n" + unknown))
          .as("an unknown log; litewitness answered 403 then")
          .isEqualTo(404);
      assertThat(status(witness, "old 1\n\n" + SIZE_3)).as("no proof").isEqualTo(422);
      String bent = LEAF_2.replace("AA=", "BA=");
      assertThat(status(witness, "old 1\n" + LEAF_1 + bent + "\n" + SIZE_3)).isEqualTo(422);
      cosigned(witness, "old 1\n" + LEAF_1 + LEAF_2 + "\n", SIZE_3);
      WitnessAnswer late =
          witness.add(
              bytes(
                  "old 1\n"
                      + LEAF_1
                      + "+fUDV+k970B4I3uKrqJM4aP1lloPZP8mvr2Z4wRw2LI=\n"
                      + LEAF_4
                      + "\n"
                      + SIZE_5),
              NOW);
      assertThat(late).isEqualTo(WitnessAnswer.size(3));
      cosigned(
          witness,
          "old 3\n"
              + LEAF_2
              + LEAF_3
              + "wgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE=\n"
              + LEAF_4
              + "\n",
          SIZE_5);
      assertThat(witness.add(bytes("old 0\n\n" + SIZE_5), NOW)).isEqualTo(WitnessAnswer.size(5));
    }
  }

  private static int status(Witness witness, String request) {
    return witness.add(bytes(request), NOW).status();
  }

  private static void cosigned(Witness witness, String head, String checkpoint) {
    WitnessAnswer answer = witness.add(bytes(head + checkpoint), NOW);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(answer.text()).startsWith("\u2014 example.com/witness ");
    Checkpoint whole = Checkpoint.parse(bytes(checkpoint + answer.text()));
    assertThat(Cosignature.of(whole, witness.key()).orElseThrow().at()).isEqualTo(NOW);
  }
}
