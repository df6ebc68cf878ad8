//! Public keys in COSE, the form inside authenticator data (RFC 9052 section 7).

use super::{
    cbor::{Item, Reader},
    public_key::PublicKey,
};

/// Reads a public key. The key must name its algorithm and have exactly the members that WebAuthn allows (section
/// 5.8.5).
pub fn read<'a>(reader: &mut Reader<'a>) -> Option<PublicKey<'a>> {
    let Item::Map(members) = reader.item()? else {
        return None;
    };
    let (mut kty, mut alg, mut first, mut second, mut third) = (None, None, None, None, None);
    for _ in 0..members {
        let member = match reader.item()? {
            Item::Int(1) => &mut kty,
            Item::Int(3) => &mut alg,
            Item::Int(-1) => &mut first,
            Item::Int(-2) => &mut second,
            Item::Int(-3) => &mut third,
            _ => return None,
        };
        if member.replace(reader.item()?).is_some() {
            return None;
        }
    }
    match (kty?, alg?, first?, second?, third) {
        // EC2 on P-256: crv, x, y.
        (Item::Int(2), Item::Int(-7), Item::Int(1), Item::Bytes(x), Some(Item::Bytes(y))) => {
            Some(PublicKey::P256 { x: x.try_into().ok()?, y: y.try_into().ok()? })
        }
        // RSA: n, e.
        (Item::Int(3), Item::Int(-257), Item::Bytes(modulus), Item::Bytes(exponent), None) => {
            PublicKey::rsa(modulus, exponent)
        }
        // OKP on Ed25519: crv, x.
        (Item::Int(1), Item::Int(-8), Item::Int(6), Item::Bytes(x), None) => x.try_into().ok().map(PublicKey::Ed25519),
        _ => None,
    }
}
