/** What the storage in an object store refuses, with stable codes. */
package dev.writ.s3.error;
