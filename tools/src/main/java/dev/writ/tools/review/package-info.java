/** What a reviewer sees of a package, and how one version of a tool differs from another. */
package dev.writ.tools.review;
