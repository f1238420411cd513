package dev.writ.cli.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.UpstreamPackage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A package may have tens of megabytes of code, and a session thousands of messages. */
class WhatAServerListsIsReadOnceTest {
  @Test
  void andItsCodeIsNotKept() {
    JsonValue.Obj tool =
        (JsonValue.Obj)
            Jcs.parse(
                "{\"name\":\"add\",\"inputSchema\":{\"type\":\"object\"}}"
                    .getBytes(StandardCharsets.UTF_8));
    TreeMap<String, byte[]> own = new TreeMap<>();
    own.put("code.py", new byte[1000]);
    ServerSpec spec =
        new ServerSpec(
            List.of("python3", "/tool/code.py"),
            new TreeMap<>(),
            new TreeMap<>(),
            List.of(),
            List.of(),
            ServerSpec.START_MS);
    UpstreamPackage made =
        UpstreamPackage.of("calc", "1.0.0", spec, PinnedTools.of(List.of(tool)), own);
    AtomicInteger reads = new AtomicInteger();
    Driver.PackageContent content =
        file -> {
          reads.incrementAndGet();
          return made.files().get(file.path());
        };
    PinnedLists lists = new PinnedLists();
    PinnedLists.Pinned first = lists.of(made.manifest(), () -> content);
    assertThat(first.tools().byName()).containsOnlyKeys("add");
    assertThat(reads.get()).isEqualTo(made.files().size());
    PinnedLists.Pinned second =
        lists.of(
            made.manifest(),
            () -> {
              throw new AssertionError("looked for again");
            });
    assertThat(second).isSameAs(first);
  }
}
