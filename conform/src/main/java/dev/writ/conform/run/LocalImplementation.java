package dev.writ.conform.run;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;

/** An adapter in this process; questions and answers still go through lines. */
public final class LocalImplementation implements Implementation {
  private final String name;
  private final Adapter adapter;
  private long asked;

  public LocalImplementation(String name, Adapter adapter) {
    this.name = name;
    this.adapter = adapter;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public AdapterAnswer ask(String op, JsonValue.Obj input) {
    Question question = new Question(String.valueOf(++asked), op, input);
    return question.answer(adapter.answer(question.line()));
  }
}
