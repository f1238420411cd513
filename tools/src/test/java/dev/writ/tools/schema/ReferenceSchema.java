package dev.writ.tools.schema;

import dev.harrel.jsonschema.Validator;
import dev.harrel.jsonschema.ValidatorFactory;
import dev.harrel.jsonschema.providers.JacksonNode;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What a schema accepts by a library that nothing of ours is built on. */
public final class ReferenceSchema {
  private static final URI PLACE = URI.create("urn:reference:schema");
  private final Validator validator;

  /**
   * @throws RuntimeException where the library finds that it is no schema
   */
  public ReferenceSchema(JsonValue schema) {
    validator =
        new ValidatorFactory().withJsonNodeFactory(new JacksonNode.Factory()).createValidator();
    validator.registerSchema(PLACE, text(schema));
  }

  /** Empty for a circle of references that comes to no end: then nothing is said of the value. */
  public Optional<Boolean> accepts(JsonValue instance) {
    try {
      return Optional.of(validator.validate(PLACE, text(instance)).isValid());
    } catch (StackOverflowError e) {
      return Optional.empty();
    }
  }

  public static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
