//! A strict deserializer for documents that people write. By itself, serde also accepts an array of field values for a
//! struct, an object with one member for an enum, and members that a struct does not have. Each is probably the
//! sender's mistake. Data that Signpost itself stored or sent is not read strictly, because newer code may have written
//! it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};

/// Wraps a deserializer so that structs are read only from objects, and enums are read only from strings. To apply this
/// at every depth, it also wraps each visitor and each nested deserializer.
pub struct Strict<T>(pub T);

macro_rules! deserialize {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($argument,)* Strict(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    deserialize! {
        deserialize_any() deserialize_bool() deserialize_char() deserialize_str() deserialize_string()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit() deserialize_seq() deserialize_map()
        deserialize_identifier() deserialize_ignored_any()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Struct { fields, inner: visitor })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_str(Word(visitor))
    }
}

macro_rules! visit {
    ($($method:ident($($argument:ident: $type:ty)?))*) => {$(
        fn $method<E: Error>(self, $($argument: $type)?) -> Result<V::Value, E> {
            self.0.$method($($argument)?)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(value: bool) visit_char(value: char) visit_unit() visit_none()
        visit_i8(value: i8) visit_i16(value: i16) visit_i32(value: i32) visit_i64(value: i64) visit_i128(value: i128)
        visit_u8(value: u8) visit_u16(value: u16) visit_u32(value: u32) visit_u64(value: u64) visit_u128(value: u128)
        visit_f32(value: f32) visit_f64(value: f64)
        visit_str(value: &str) visit_borrowed_str(value: &'de str) visit_string(value: String)
        visit_bytes(value: &[u8]) visit_borrowed_bytes(value: &'de [u8]) visit_byte_buf(value: Vec<u8>)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(deserializer))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(deserializer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Strict(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(members))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, word: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(word)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(deserializer))
    }
}

/// Wraps a struct's visitor, then the struct's members. Refuses a member that is not in `fields`.
struct Struct<T> {
    fields: &'static [&'static str],
    inner: T,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Struct<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        let Self { fields, inner } = self;
        inner.visit_map(Struct { fields, inner: members })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Struct<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let Some(key) = self.inner.next_key::<String>()? else {
            return Ok(None);
        };
        if !self.fields.contains(&key.as_str()) {
            return Err(A::Error::unknown_field(&key, self.fields));
        }
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// A visitor that reads a variant of an enum from a string.
struct Word<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Word<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<V::Value, E> {
        self.0.visit_enum(word.into_deserializer())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Outer {
        inner: Inner,
        #[serde(default)]
        maybe: Option<Inner>,
        #[serde(default)]
        list: Vec<Inner>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Inner {
        number: u32,
        word: Choice,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    enum Choice {
        #[default]
        One,
    }

    /// Reads a JSON text in which `INNER` stands for a valid object.
    fn read(json: &str) -> Result<Outer, String> {
        let json = json.replace("INNER", r#"{"number":1,"word":"One"}"#);
        let mut json = serde_json::Deserializer::from_str(&json);
        Outer::deserialize(Strict(&mut json)).map_err(|error| error.to_string())
    }

    #[test]
    fn objects_are_read_at_every_depth() {
        let inner = || Inner { number: 1, word: Choice::One };
        let all = Outer { inner: inner(), maybe: Some(inner()), list: vec![inner(), inner()] };
        let one = Outer { inner: inner(), ..Outer::default() };
        for (json, expected) in
            [(r#"{"inner":INNER,"maybe":INNER,"list":[INNER,INNER]}"#, all), (r#"{"inner":INNER,"maybe":null}"#, one)]
        {
            assert_eq!(read(json), Ok(expected), "{json}");
        }
    }

    #[test]
    fn arrays_for_objects_and_objects_for_words_are_refused() {
        for (json, expected) in [
            ("[INNER]", "invalid type: sequence"),
            (r#"{"inner":[1,"One"]}"#, "invalid type: sequence"),
            (r#"{"inner":INNER,"maybe":[1,"One"]}"#, "invalid type: sequence"),
            (r#"{"inner":INNER,"list":[[1,"One"]]}"#, "invalid type: sequence"),
            (r#"{"inner":{"number":1,"word":{"One":null}}}"#, "invalid type: map"),
            (r#"{"inner":{"number":1,"word":"Two"}}"#, "unknown variant `Two`"),
            (r#"{"inner":{"number":[1],"word":"One"}}"#, "invalid type: sequence"),
        ] {
            let error = read(json).expect_err(json);
            assert!(error.starts_with(expected), "{json}: {error}");
        }
    }
}
