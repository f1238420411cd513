/** What the schemas of others have in common, before they become those of a manifest. */
package dev.writ.tools.schema;
