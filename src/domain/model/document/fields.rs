//! The names of a struct's fields, as its `Deserialize` states them.

use serde::{
    Deserialize, Deserializer, de,
    de::{Error, Visitor},
    forward_to_deserialize_any,
};

/// Records the field names that a struct's `Deserialize` asks for. Always returns an error.
struct Fields<'f>(&'f mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Self::Error> {
        Err(Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Error::custom("only the names are wanted"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The names of a struct's fields; empty for any other type.
pub fn names_of<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    // The result is always an error: no value is built.
    let _ = T::deserialize(Fields(&mut names));
    names
}
