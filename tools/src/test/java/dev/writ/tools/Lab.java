package dev.writ.tools;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.*;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.wasm.*;
import java.nio.file.*;

public class Lab {
  public static void main(String[] args) throws Exception {
    try (GuestPool pool = GuestPool.ofThisHost()) {
      if (args[0].equals("js")) {
        var m = BuiltinTools.manifest("js", "1.0.0").get();
        var p = new JsDriver(pool).prepare(m, "eval", BuiltinTools.content(m));
        for (int i = 1; i < args.length; i++) {
          long t = System.nanoTime();
          Outcome o = new Call(p).params(JsonValue.object().put("source", args[i]).put("input", JsonValue.of(5)).build()).input("a.txt", "héllo").run();
          System.out.println((System.nanoTime() - t) / 1000000 + " ms " + Call.show(o) + " " + o.metrics());
        }
      } else if (args[0].equals("sql")) {
        var m = BuiltinTools.manifest("sql", "1.0.0").get();
        var p = new dev.writ.tools.sql.SqlDriver(pool).prepare(m, "query", BuiltinTools.content(m));
        for (int i = 1; i < args.length; i++) {
          long t = System.nanoTime();
          Outcome o = new Call(p).params(JsonValue.object().put("sql", args[i]).build()).input("people.csv", "name,age,score\nAnn,30,1.5\nBob,,2\n\"x\"\"y\",7,\n").input("j.json","[{\"a\":1,\"b\":[1]},{\"c\":true}]").seed(Call.seed(i)).run();
          System.out.println((System.nanoTime() - t) / 1000000 + " ms " + Call.show(o) + " " + o.metrics());
        }
      } else {
        var m = BuiltinTools.manifest("word-count", "1.0.0").get();
        for (int i = 0; i < 3; i++) {
          long t = System.nanoTime();
          var p = WasmDriver.compiled(pool, new ModuleCache(8)).prepare(m, "count", BuiltinTools.content(m));
          long t2 = System.nanoTime();
          Outcome o = new Call(p).input("text", args[1]).run();
          long t3 = System.nanoTime();
          o = new Call(p).input("text", args[1]).run();
          System.out.println((t2 - t) / 1000 + " us prep, run " + (t3 - t2) / 1000 + " us, again " + (System.nanoTime() - t3) / 1000 + Call.show(o) + " " + o.metrics());
        }
      }
    }
  }
}
